"""The pointer-generator of See et al. 2017: network, search, training over all steps."""
