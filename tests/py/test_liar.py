"""The comparison is worth its name: a lie about any attribute that it claims to
compare is found, whoever tells it."""
from __future__ import annotations

import pytest

import corpus_runs

#: Hundreds of builds that differ in what is compared, not in what is built.
pytestmark = pytest.mark.release

#: Trackers of the families, whether or not a program has them today.
TRACKERS = (
    "ConstantVariable", "ListVariable", "TupleVariable", "SizeVariable", "NamedTupleVariable", "DequeVariable",
    "RangeVariable", "SliceVariable", "ConstDictVariable", "DefaultDictVariable", "TensorVariable",
    "UserFunctionVariable", "CollectiveFunctionRewriteVariable",
    "BuiltinVariable", "TorchVariable", "UserDefinedClassVariable", "PythonModuleVariable",
    "SkipFilesVariable", "SymNodeVariable",
    "AutogradFunctionVariable", "AutogradFunctionContextVariable", "GetAttrVariable", "OptimizerVariable",
    "DataClassVariable", "HFPretrainedConfigVariable", "TensorWithTFOverrideVariable", "TensorSubclassVariable",
    "CondHigherOrderVariable", "MapHigherOrderVariable", "OutDtypeHigherOrderVariable", "WrapHigherOrderVariable",
    "CheckpointHigherOrderVariable", "ExecutorchCallDelegateHigherOrderVariable", "ExportTracepointHigherOrderVariable",
    "AutogradFunctionMethodHigherOrderVariable", "UserDefinedObjectVariable",
    "EnumVariable",
    "NNModuleVariable", "UnspecializedNNModuleVariable", "FSDPManagedNNModuleVariable",
    "UserMethodVariable",
    "NumpyNdarrayVariable", "UnspecializedPythonVariable", "NumpyVariable", "FunctoolsPartialVariable",
    "LambdaVariable", "NullContextVariable", "ProcessGroupVariable", "DeviceMeshVariable", "PlacementClassVariable",
    "PlacementVariable", "KeyedJaggedTensorVariable", "SetVariable", "CUDAStreamVariable", "ComptimeVariable", "GetSetDescriptorVariable",
    "MethodWrapperVariable", "TypingVariable", "TupleIteratorVariable",
)  # fmt: skip
#: What hangs on them, and what a frame holds.
OTHERS = (
    "Frame", "Root", "Exception", "Tensor", "Object", "Node", "NodeMeta", "GraphArg", "TrackedFake",
    "FrameStateSizeEntry", "OutputGraph", "SubgraphTracer", "ShapeEnv", "SideEffects", "TracingContext",
    "InstructionTranslator", "Guard", "MutableLocal", "MutableSideEffects", "AttributeMutationExisting",
    "LocalSource", "GlobalSource", "GlobalWeakRefSource", "ConstantSource", "RandomValueSource", "AttrSource",
    "ParamBufferSource", "GetItemSource", "TupleIteratorGetItemSource", "ODictGetItemSource", "DefaultsSource",
    "TypeSource", "NNModuleSource", "NotNNModuleSource", "FSDPNNModuleSource", "NumpyTensorSource", "ConvertIntSource",
    "TensorPropertySource",
)  # fmt: skip
#: Records of our own: no object of the reference's has these attributes.
OURS = ("Frame", "Root", "Exception", "Tensor", "Object")
#: Attributes whose walk asserts what stands there, so that no other value gets as
#: far as a comparison: the lie is told in what the walk wrote.
REFUSED = {
    "Node.meta", "NodeMeta.grapharg", "NodeMeta.tensor_dict", "OutputGraph.cleanups", "OutputGraph.tracers",
    "ShapeEnv.guards", "ShapeEnv.divisible", "ShapeEnv.deferred_runtime_asserts", "ShapeEnv.var_to_stack",
    "ShapeEnv.unbacked_symint_counter", "ShapeEnv.unbacked_symfloat_counter", "SideEffects.keepalive",
    "InstructionTranslator.random_calls", "OptimizerVariable.grad_to_source", "OptimizerVariable.tensor_to_source",
}  # fmt: skip
#: The same, of attributes that objects of the installed revision lack.
LACKING = {"ShapeEnv.source_name_to_debug_name"}


@pytest.fixture(scope="module")
def run(python):
    return corpus_runs.probe(python, "liar", "reference_liar", builder=corpus_runs.mission())


def compared(class_name: str) -> list[str]:
    """Class.attribute of everything that the schema compares of a class."""
    import _tandem as core
    from tandem.fields import CLASSES

    rows = [row[:2] for row in core.testing["fields"]() if row[2] == "compared"]
    found, at = [], class_name
    while at is not None:
        found += [f"{class_name}.{attribute}" for owner, attribute in rows if owner == at]
        at = CLASSES[at]
    return found


@pytest.mark.parametrize("job", ["liar", "reference_liar"])
@pytest.mark.parametrize("class_name", TRACKERS + OTHERS)
def test_every_compared_attribute_is_lied_about(run, class_name, job):
    attributes = compared(class_name)
    assert attributes, "the schema compares nothing of this class"
    missing = [one for one in attributes if one not in run[job] or run[job][one]["program"] is None]
    assert not missing, "no program contains these"


def test_nothing_occurs_that_is_not_in_scope(run):
    """A class that the corpus brings is lied about too, and named here."""
    assert {one.partition(".")[0] for one in run["liar"]} == set(TRACKERS + OTHERS)


def test_a_lie_of_the_subject_is_named(run):
    told = run["liar"]
    assert len(told) > 200
    missed = {one: lie for one, lie in told.items() if lie["verdict"] != "diverge" or lie["field"] not in lie["named"]}
    assert not missed


def test_a_lie_of_the_reference_is_named(run):
    told = run["reference_liar"]
    assert set(told) == set(run["liar"])
    assert not {one: lie for one, lie in told.items() if lie["how"] == "bytes" and lie["field"] not in lie["named"]}
    assert not {one: lie for one, lie in told.items() if lie["how"] == "object" and not lie["named"]}


def test_a_lie_of_the_reference_is_told_by_a_real_object(run):
    """What had to be told in bytes is listed, and is no attribute of a tracker but the maps of optimizers."""
    in_bytes = {one for one, lie in run["reference_liar"].items() if lie["how"] == "bytes"}
    expected = REFUSED | (LACKING if run["loaded"]["revision"] == "installed" else set())
    assert {one for one in in_bytes if one.partition(".")[0] not in OURS} == expected
