"""Switch SIZES_READ_FIRST: a tensor that has no sizes, under names that frames before saw.

One name has another number of dims by then: that is noted, or the sizes are asked
for before; the other has as many."""
import warnings

import torch

CONFIG = {"automatic_dynamic_shapes": False}


def nested():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


def frames():
    return [[(("local", "x"), x), (("local", "y"), y)] for x, y in
            ((torch.ones(4), torch.ones(2, 3)), (nested(), nested()), (torch.ones(4), torch.ones(2, 3)))]
