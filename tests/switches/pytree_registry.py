"""Switch PYTREE_REGISTRY: torch's registry of pytree nodes, a dict whose keys are classes."""
from torch.utils import _pytree


def frames():
    return [[(("local", "nodes"), _pytree.SUPPORTED_NODES)]]
