"""What JAX says of one `plgpu.wgmma` or `plgpu.tcgen05_mma` with concrete operands."""
