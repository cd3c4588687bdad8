"""Parameters of every public function of `jax.experimental.pallas.mosaic_gpu`, as written in Python.

Those of the newest JAX known here; `OLDER` holds what differs before (jax/_src/pallas/mosaic_gpu/primitives.py,
core.py, helpers.py, pipeline.py). Defaults are literals: an enum's member stands as None. A test holds both against
the installed JAX.
"""

from __future__ import annotations

from collections.abc import Mapping

_STORE_IN = "ref, val, *, optimized=True"
_TO_TMEM = "smem_ref, tmem_ref, collective_axis=None"
_REDUCE = "x, axis=None, keepdims=False, *, accumulator_ilp=None"

SIGNATURES: Mapping[str, str] = {
    "ACC": "shape, dtype='float32', _init=None",
    "Barrier": "*, num_arrivals=1, num_barriers=(), orders_tensor_core=False",
    "BlockSpec": (
        "block_shape=None, index_map=None, pipeline_mode=None, transforms=(), delay_release=0, collective_axes=None, "
        "oob_fill_mode=None, *, memory_space=None"
    ),
    "ClusterBarrier": (
        "*, collective_axes, num_barriers=(), num_arrivals=1, orders_tensor_core=False, leader_tracked=False"
    ),
    "CompilerParams": (
        "*, approx_math=False, dimension_semantics=None, max_concurrent_steps=1, unsafe_no_auto_barriers=False, "
        "reduction_scratch_bytes=2048, profile_space=0, profile_dir='', profile_trace_scope=None, "
        "profile_bounds_check=False, lowering_semantics=None, skip_device_barrier=False, is_multi_process=False"
    ),
    "InterpretGPUParams": (
        "*, detect_races=False, on_race='raise', out_of_bounds_reads='raise', skip_floating_point_ops=False, "
        "uninitialized_memory='nan', num_cores_or_threads=1, vector_clock_size=None, logging_mode=None, "
        "num_tma_threads_per_device=5, inline_mgpu='error'"
    ),
    "Mesh": (
        "*, grid=(), grid_names=(), cluster=(), cluster_names=(), num_threads=None, thread_name=None, kernel_name=None"
    ),
    "NDLoopInfo": "index, local_index, num_local_steps",
    "PeerMemRef": "device_id, device_id_type",
    "RefType": "transforms=()",
    "RefUnion": "*refs",
    "Replicated": "times",
    "SemaphoreSignal": "ref, *, device_id, inc=1",
    "ShapeDtypeStruct": "shape, dtype, layout",
    "SwizzleTransform": "swizzle",
    "Tiling": "tiles",
    "TilingTransform": "tiling",
    "TryClusterCancelResult": "num_buffers=None",
    "WGMMAAccumulatorRef": "shape, dtype='float32', _init=None",
    "WarpMesh": "*, axis_name",
    "alloc_semaphore": "shape=()",
    "as_torch_kernel": "fn",
    "async_copy_scales_to_tmem": _TO_TMEM,
    "async_copy_smem_to_tmem": _TO_TMEM,
    "async_copy_sparse_metadata_to_tmem": _TO_TMEM,
    "async_load_tmem": "src, *, layout=None, reduce=None",
    "async_prefetch": "ref, *, collective_axes=None, leader_tracked=None, predicate=None",
    "async_store_smem": "src, ref, barrier, *, cluster_idx, cluster_dim, optimized=True, atomic=None",
    "async_store_tmem": "ref, value",
    "atomic_add": _STORE_IN,
    "atomic_and": _STORE_IN,
    "atomic_max": _STORE_IN,
    "atomic_min": _STORE_IN,
    "atomic_or": _STORE_IN,
    "atomic_xor": _STORE_IN,
    "barrier_arrive": "barrier, *, predicate=None",
    "barrier_arrive_and_wait": "barrier",
    "barrier_test": "barrier",
    "barrier_wait": "barrier",
    "broadcasted_iota": "dtype, shape, dimension, *, layout=None",
    "cluster_ref": "ref, block_id",
    "commit_smem": "",
    "commit_smem_to_gmem_group": "",
    "commit_tmem": "",
    "copy_gmem_to_smem": (
        "src, dst, barrier=None, *, collective_axes=None, leader_tracked=None, oob_mode=None, predicate=None"
    ),
    "copy_smem_to_gmem": "src, dst, predicate=None, *, commit_group=True, reduction_op=None",
    "dynamic_scheduling_loop": "grid_names, thread_axis=None, cluster_axes=(), init_carry=None",
    "emit_pipeline": "body, *, grid, in_specs=(), out_specs=(), max_concurrent_steps=1, init_carry=None",
    "emit_pipeline_warp_specialized": (
        "body, *, grid, memory_registers, in_specs=(), out_specs=(), max_concurrent_steps=2, wg_axis, "
        "num_compute_wgs, pipeline_state=None, manual_produced_barriers=False, manual_consumed_barriers=False, "
        "compute_context=None, memory_thread_idx=None"
    ),
    "find_swizzle": "minor_dim_bits, what=''",
    "force_gpu_interpret_mode": "params=None",
    "format_tcgen05_sparse_metadata": "meta, operand_dtype",
    "griddepcontrol_launch_dependents": "",
    "griddepcontrol_wait": "",
    "im2col_ref": "ref, *, window_shape, padding=None",
    "inline_mgpu": "*, arg_types=(), return_type=None",
    "kernel": (
        "body=None, *, out_type=(), scratch_types=(), compiler_params=None, cost_estimate=None, grid=(), "
        "grid_names=(), cluster=(), cluster_names=(), num_threads=None, thread_name=None, interpret=None, "
        "debug=False, **mesh_kwargs"
    ),
    "layout_cast": "x, new_layout",
    "load": "src, *, layout=None, optimized=True",
    "max": _REDUCE,
    "min": _REDUCE,
    "mma": "acc, a, b, /",
    "multicast_ref": "ref, collective_axes",
    "multimem_load_reduce": "ref, *, collective_axes, reduction_op",
    "multimem_store": "source, ref, collective_axes",
    "nd_loop": "grid, *, collective_axes, tiling=None, init_carry=None",
    "planar_snake": "lin_idx, shape, minor_dim, tile_width",
    "print_layout": "fmt, x",
    "prod": _REDUCE,
    "query_cluster_cancel": "result_ref, grid_names",
    "remote_ref": "ref, device_id, device_id_type=None",
    "semaphore_signal": "semaphore, inc=1, *, device_id=None, memory_scope='sys'",
    "semaphore_signal_multicast": "semaphore, value=1, *, collective_axes",
    "semaphore_signal_parallel": "*signals",
    "semaphore_wait": "semaphore, value=1, *, decrement=True, memory_scope='sys'",
    "set_gpu_interpret_mode": "params=None",
    "set_max_registers": "n, *, action",
    "store": "dst, value, *, optimized=True",
    "sum": _REDUCE,
    "tcgen05_commit_arrive": "barrier, collective_axis=None, *, predicate=None",
    "tcgen05_mma": (
        "acc, a, b, barrier=None, *, a_scale=None, b_scale=None, a_sparse_metadata=None, accumulate=True, "
        "collective_axis=None"
    ),
    "try_cluster_cancel": "result_ref, barrier, *, collective_axes=()",
    "wait_gmem_to_smem": "n",
    "wait_load_tmem": "",
    "wait_smem_to_gmem": "n, wait_read_only=False",
    "warp_map": "f, /",
    "wgmma": "acc, a, b",
    "wgmma_accumulator_load": "acc, *, wait_n=0",
    "wgmma_wait": "n",
}

#: Memory spaces, called: a buffer's type (MemorySpace.__call__).
BUFFER = "shape, dtype, *, transforms=(), packed=None, collective=None, layout=None"

#: Signatures of releases before the newest that take other arguments (keywords that came later aside).
OLDER: Mapping[str, str] = {
    "kernel": (
        "body=None, out_shape=(), *, out_type=(), scratch_types=(), scratch_shapes=(), compiler_params=None, grid=(), "
        "grid_names=(), cluster=(), cluster_names=(), num_threads=None, thread_name=None, interpret=None, "
        "**mesh_kwargs"
    ),
    "load": "src, idx=(), *, layout=None, optimized=True",
    "transform_ref": "ref, transform",
    "transpose_ref": "ref, permutation",
}
