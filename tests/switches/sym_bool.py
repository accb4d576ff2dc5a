"""Switch SYM_BOOL: a comparison of a symbolic int of a shape environment of its own."""
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv


def frames():
    size = ShapeEnv().create_symbol(5, ConstantSource("n"), DimDynamic.DYNAMIC)
    number = ShapeEnv().create_symintnode(size, hint=5)
    return [[(("local", "is_five"), number == 5)]]
