# fathom-record
