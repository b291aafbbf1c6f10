"""Turns of a conversation with tools, from the mask of what the model itself said."""


def turns(mask):
    """The turn of each token, (…, T) as the mask: an observation (0 in the mask) opens the next one."""
    if mask is None:
        return None
    mask = mask.bool()
    opens = mask.new_zeros(mask.shape)
    opens[..., 1:] = mask[..., :-1] & ~mask[..., 1:]
    return opens.int().cumsum(-1)
