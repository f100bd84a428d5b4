# Words that belong to no area.

verbatim = { $text }
interval = { " " }(95 % interval { $low } to { $high })
interval-wide = { " " }({ $low } to { $high })
interval-open = { " " }(inconclusive)
several-sentences = { $list }
did-you-mean = did you mean `{ $near }`?
what-and-why = { $what }: { $why }
warning-feature-missing = { $feature } was not in force: { $reason }.
valid-words = valid: { $words }
unknown-key = unknown key `{ $key }`
invalid-toml = this is not valid TOML: { $why }
several = { $list }
