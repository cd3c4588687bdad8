"""Real kernels that lower: the rules' good ones, repaired faults of users, and what JAX brings along."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

_BESIDE = Path(__file__).with_name("kernels")
#: What JAX's own kernels ask of a machine with a GPU.
_MACHINE = (
    ("backend.get_default_device().core_count", "132"),
    ("jax.devices()[0].core_count", "132"),
    ("jax.local_devices()[0].core_count", "132"),
    ("assert cuda_versions is not None", "pass"),
    ("cuda_versions.cuda_runtime_get_version()", "13000"),
)
#: Where a file of JAX ends being kernels and begins to measure them.
_ENDS = ("\ndef main(", "\ndef _run_example(", "\ndef _min_results_across_devices(")
_BLACKWELL = "# pallas: target sm_100a\n"

_STRUCT = """


def struct(shape, dtype):
    return jax.ShapeDtypeStruct(shape, dtype)


def lower(f, *args):
    jax.jit(f).trace(*args).lower(lowering_platforms=("cuda",))


"""


@dataclass(frozen=True, slots=True)
class Source:
    """A kernel file that lowers by itself."""

    name: str
    text: str


#: Calls of JAX's own kernels, at shapes of their authors.
_CALLS = {
    "hopper_matmul_mgpu": """\
A, B = struct((4096, 4096), jnp.float16), struct((4096, 8192), jnp.float16)
lower(lambda a, b: matmul(a, b, None, TuningConfig(tile_m=128, tile_n=128, tile_k=64, max_concurrent_steps=4)), A, B)
""",
    "hopper_mixed_type_matmul_mgpu": """\
A, B = struct((4096, 4096), jnp.int8), struct((4096, 8192), jnp.bfloat16)
CONFIG = TuningConfig(tile_m=128, tile_n=128, tile_k=64, max_concurrent_steps=4)
lower(lambda a, b: mixed_matmul_kernel(a, b, out_dtype=jnp.bfloat16, config=CONFIG), A, B)
""",
    "attention_mgpu": """\
Q = K = V = struct((1, 4096, 16, 128), jnp.float16)
BLOCKS = dict(block_q_dkv=64, block_kv_dkv=64, block_q_dq=64, block_kv_dq=64)
CONFIG = TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2, **BLOCKS)
lower(jax.grad(lambda q, k, v: attention(q, k, v, CONFIG).astype(jnp.float32).sum(), argnums=(0, 1, 2)), Q, K, V)
lower(lambda q, k, v: attention_with_pipeline_emitter(q, k, v, CONFIG), Q, K, V)
""",
    "blackwell_matmul_mgpu": """\
A, B = struct((4096, 4096), jnp.float16), struct((4096, 8192), jnp.float16)
CONFIG = TuningConfig(tile_m=128, tile_n=128, tile_k=64, max_concurrent_steps=4, collective=False, epilogue_tile_n=32)
lower(lambda a, b: matmul_kernel(a, b, CONFIG), A, B)
""",
    "blackwell_matmul_mgpu of pairs": """\
A, B = struct((4096, 4096), jnp.float16), struct((4096, 8192), jnp.float16)
CONFIG = TuningConfig(tile_m=128, tile_n=128, tile_k=64, max_concurrent_steps=4, collective=True, epilogue_tile_n=32)
lower(lambda a, b: matmul_kernel(a, b, CONFIG), A, B)
""",
    "blackwell_ragged_dot_mgpu": """\
A, B = struct((16384, 2048), jnp.float16), struct((16, 2048, 16384), jnp.float16)
G = struct((16,), jnp.int32)
CONFIG = TuningConfig(
    tile_m=128, tile_n=128, tile_k=64, grid_tile_width=8,
    grid_minor_dim=blackwell_matmul_mgpu.MatmulDimension.N, max_concurrent_steps=4, collective=True,
)
lower(lambda a, b, g: ragged_dot_kernel(a, b, g, CONFIG), A, B, G)
""",
    "ragged_dot_mgpu": """\
A, B, G = struct((16384, 2048), jnp.float16), struct((16, 2048, 16384), jnp.float16), struct((16,), jnp.int32)
CONFIG = dict(block_m=64, block_n=64, block_k=64, max_concurrent_steps=2, grid_block_n=2)
lower(lambda a, b, g: ragged_dot(a, b, group_sizes=g, **CONFIG), A, B, G)
""",
    "transposed_ragged_dot_mgpu": """\
A, B, G = struct((16384, 2048), jnp.float16), struct((16384, 2048), jnp.float16), struct((16,), jnp.int32)
CONFIG = dict(block_m=64, block_n=64, block_k=64, max_concurrent_steps=2, grid_block_n=2)
lower(lambda a, b, g: transposed_ragged_dot(a, b, group_sizes=g, **CONFIG), A, B, G)
""",
}


def good_kernels() -> list[Source]:
    """The rules' good kernels and the repaired faults."""
    rules = resources.files("pallas_ls.rules") / "kernels"
    good = [Source(p.name, p.read_text("utf-8")) for p in rules.iterdir() if p.name.endswith(".good.py")]
    repaired = [Source(p.name, p.read_text("utf-8")) for p in _BESIDE.glob("*.py")]
    return sorted((s for s in good + repaired if s.text.isascii()), key=lambda s: s.name)


def jax_kernels(home: Path) -> list[Source]:
    """The kernels in a JAX that is installed in a folder, each with a call."""
    out: list[Source] = []
    for name, call in _CALLS.items():
        path = home / "experimental" / "pallas" / "ops" / "gpu" / f"{name.partition(' ')[0]}.py"
        if not path.exists():
            continue
        text = path.read_text("utf-8")
        for end in _ENDS:
            text = text.partition(end)[0]
        for asked, answer in _MACHINE:
            text = text.replace(asked, answer)
        head = _BLACKWELL if name.startswith("blackwell") else ""
        out.append(Source(name, head + text + _STRUCT + call))
    return out
