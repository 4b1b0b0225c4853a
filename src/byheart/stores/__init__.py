"""Where memories are kept: the protocol, the contract that every store keeps, and the stores."""
