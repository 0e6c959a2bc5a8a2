"""Systems that were trained in several seeds: differences over seeds and articles, verdicts, power, equal length."""
