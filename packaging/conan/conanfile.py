# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""`conan create packaging/conan` in the repository: docs/packages.md."""

import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class TesseraConan(ConanFile):
    name = "tessera"
    description = "Matrix products, stencils and systems of fields on backends that are chosen at run time"
    license = "Apache-2.0"
    topics = ("gemm", "stencil", "blas", "cuda", "kokkos", "openmp")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "cpu": [True, False], "cuda": [True, False], "cli": [True, False],
               "cpu_variants": ["ANY"]}
    default_options = {"shared": True, "cpu": True, "cuda": False, "cli": True, "cpu_variants": "v2,v3,v4"}
    generators = "CMakeDeps"

    def set_version(self):
        header = load(self, Path(self.recipe_folder).parents[1] / "include/tessera/version.h")
        self.version = ".".join(re.findall(r"TESSERA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))

    def export_sources(self):
        root = Path(self.recipe_folder).parents[1]
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "lib/*", "backends/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Tessera builds on Linux")

    def requirements(self):
        if self.options.cpu:
            self.requires("eigen/[>=3.4]", visible=False)
        if self.options.cli:
            self.requires("cli11/[>=2.1]", visible=False)
            self.requires("nlohmann_json/[>=3.11]", visible=False)
            self.requires("libpng/[>=1.6]", visible=False)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.28]")

    def generate(self):
        toolchain = CMakeToolchain(self)
        for backend in ("cpu", "cuda"):
            toolchain.cache_variables[f"TESSERA_BACKEND_{backend.upper()}"] = bool(self.options.get_safe(backend))
        toolchain.cache_variables["TESSERA_BACKEND_KOKKOS"] = False
        toolchain.cache_variables["TESSERA_BUILD_CLI"] = bool(self.options.cli)
        toolchain.cache_variables["TESSERA_BUILD_EXAMPLES"] = False
        toolchain.cache_variables["TESSERA_BUILD_MPI"] = False
        toolchain.cache_variables["TESSERA_CPU_VARIANTS"] = str(self.options.cpu_variants).replace(",", ";")
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")

    def package_info(self):
        # CMake takes the package that Tessera installs; what else there is links the library.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.set_property("pkg_config_name", "none")
        self.cpp_info.builddirs = ["lib/cmake/tessera"]
        self.cpp_info.libs = ["tessera"]
        if not self.options.shared:
            self.cpp_info.system_libs = ["dl"]
