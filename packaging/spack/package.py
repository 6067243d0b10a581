# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Tessera(CMakePackage):
    """Matrix products, stencils and systems of fields through one plan interface, on backends for processors, Kokkos
    and CUDA that are plugins, chosen at run time."""

    license("Apache-2.0")

    # No version has an archive yet: `spack dev-build tessera@0.3.0` builds the folder it is called in.
    version("0.3.0")

    variant("shared", default=True, description="Build libtessera as a shared library")
    variant("cli", default=True, description="Build the command line program")
    variant("blas", default=True, when="+shared", description="Build libtessera_blas")
    variant("distributed", default=True, when="+shared", description="Build libtessera_distributed")
    variant("python", default=False, description="Build the Python package")
    variant("cpu", default=True, description="Build the backend for processors")
    variant("kokkos", default=False, description="Build the backend for Kokkos with OpenMP")
    variant("cuda", default=False, description="Build the backend for CUDA")
    variant(
        "cpu_variants",
        default="v2,v3,v4",
        values=("v2", "v3", "v4"),
        multi=True,
        description="x86-64 instruction sets that backends are built for",
    )

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.28:", type="build")
    depends_on("eigen@3.4:", type="build", when="+cpu")
    depends_on("cli11@2.1:", type="build", when="+cli")
    depends_on("nlohmann-json@3.11:", type="build", when="+cli")
    depends_on("libpng@1.6:", when="+cli")
    depends_on("kokkos@3.4:+openmp~cuda", when="+kokkos")
    depends_on("cuda@12:", when="+cuda")
    depends_on("py-nanobind@2.4:", type="build", when="+python")
    depends_on("python@3.10:", type=("build", "link", "run"), when="+python")
    depends_on("py-numpy@1.25:", type=("build", "run"), when="+python")
    extends("python", when="+python")

    conflicts("platform=darwin")
    conflicts("platform=windows")
    conflicts("%gcc@:11")
    conflicts("%clang@:14")

    def cmake_args(self):
        variants = self.spec.variants["cpu_variants"].value
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("TESSERA_BUILD_CLI", "cli"),
            self.define_from_variant("TESSERA_BUILD_BLAS", "blas"),
            self.define_from_variant("TESSERA_BUILD_DISTRIBUTED", "distributed"),
            self.define_from_variant("TESSERA_BUILD_PYTHON", "python"),
            self.define_from_variant("TESSERA_BACKEND_CPU", "cpu"),
            self.define_from_variant("TESSERA_BACKEND_KOKKOS", "kokkos"),
            self.define_from_variant("TESSERA_BACKEND_CUDA", "cuda"),
            self.define("TESSERA_BUILD_EXAMPLES", False),
            self.define("TESSERA_BUILD_MPI", False),
            self.define("TESSERA_CPU_VARIANTS", sorted(variants)),
        ]
        if self.spec.satisfies("+python"):
            args.append(self.define("Python_EXECUTABLE", self.spec["python"].command.path))
            args.append(self.define("TESSERA_PYTHON_INSTALL_DIR", python_platlib))
        return args
