# The command line (fathom)
