"""Which names are those of source code: a table of extensions and of whole file names.

What a program reads as text and people write by hand counts as code, configuration too. Text that
is prose, and data that is a table, have loaders of their own.
"""

from __future__ import annotations

import re

CODE = "text/x-source"
NOTEBOOK = "application/x-ipynb+json"

CODE_EXTENSIONS = frozenset(
    f".{extension}"
    for extension in (
        # general
        "ada adb ads asm awk bas c cc clj cljc cljs coffee cpp cr cs cu cuh cxx d dart el elm erl"
        " ex exs f f03 f08 f77 f90 f95 fs fsi fsx go groovy h hh hpp hrl hs hxx java jl js jsx kt"
        " kts lean lisp lua m mjs cjs ml mli mm mojo mts cts nim pas php pl pm pony pp proto ps1"
        " psm1 purs py pyi pyw pyx pxd r raku rb re rkt rs s sc scala scm sml sol st sv svh swift"
        " tcl ts tsx v vala vb vbs vhd vhdl vue svelte astro zig"
        # shells and builds
        " bash bat bazel bzl cmake cmd dockerfile fish gradle just ksh mak mk nix sh sbt zsh"
        # queries, interfaces, markup, styles, configuration
        " avsc cfg conf css cue dhall editorconfig env gql graphql hcl ini jinja j2 jsonnet json"
        " json5 jsonc jsonl less libsonnet ndjson properties prisma rego sass scss sql star styl"
        " tf tfvars thrift toml webmanifest wgsl glsl hlsl metal xml xsd xsl xslt yaml yml"
        " csproj fsproj vbproj sln props targets plist"
    ).split()
)
CODE_NAMES = frozenset(
    "BUILD Brewfile CMakeLists.txt Caddyfile Containerfile Dockerfile Gemfile GNUmakefile Guardfile"
    " Jenkinsfile Justfile Makefile Podfile Procfile Rakefile SConscript SConstruct Snakefile"
    " Tiltfile Vagrantfile WORKSPACE go.mod go.work justfile makefile meson.build"
    " requirements.txt constraints.txt .bashrc .dockerignore .editorconfig .eslintrc"
    " .gitattributes .gitignore .gitmodules .prettierrc .profile .zshrc CODEOWNERS".split()
)
_VARIANT = re.compile(r"(?:Dockerfile|Containerfile|Makefile|Jenkinsfile)\.[\w.-]+|\.env\.[\w-]+")


def is_code(name: str, extension: str) -> bool:
    """Whether a file of this name is source code; `extension` is its last, in lower case."""
    if name in CODE_NAMES or extension in CODE_EXTENSIONS:
        return True
    return _VARIANT.fullmatch(name) is not None
