"""Kernels that kernels call: compiled to what their callers are made of, not to code of their own.

numba makes machine code of every function that it compiles, together with all that it calls, and
an entrance from Python. Of the two hundred kernels of a simulation only the outermost is called
from Python. The others stay as LLVM's intermediate code, which is linked into their callers; it is
optimized and turned into machine code once, in the outermost.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba import _dynfunc
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The intermediate code of a kernel and of what it calls; the engine never sees it."""

    def _optimize_final_module(self) -> None:
        """Not yet: the outermost kernel is optimized with all of it."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(NativeLowering):  # type: ignore[misc]
    """numba's last step, without machine code."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        flags = state.flags
        state.flags = flags.copy()
        state.flags.no_compile = True
        super().run_pass(state)
        state.flags = flags
        made = state["cr"]
        name = entrance(state.library, made.fndesc, made.env)
        state.targetctx.insert_user_function(name, made.fndesc, [state.library])
        state["cr"] = made._replace(cfunc=name)
        return True


class InnerCompiler(CompilerBase):  # type: ignore[misc]
    """numba's steps, with that one in the place of the last."""

    def define_pipelines(self) -> list[Any]:
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.add_pass_after(InnerLowering, NativeLowering)
        steps.passes = [each for each in steps.passes if each[0] is not NativeLowering]
        steps.finalize()
        return [steps]


INNER_OPTIONS: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": InnerCompiler}


def entrance(library: Any, description: Any, environment: Any) -> Any:
    """What numba knows a kernel by where it is called from others: a function that leads nowhere.

    Python's objects that code refers to are found by an environment, which is told to machine code;
    kernels count no references and have none.
    """
    if environment.consts:
        raise TypeError(f"{description.qualname} holds Python objects; kernels can't")
    name = description.qualname.split(".")[-1]
    return _dynfunc.make_function(description.lookup_module(), name, "", 0, environment, (library,))


class InnerResults(CompileResultCacheImpl):  # type: ignore[misc]
    """How such a kernel is kept on disk and read again."""

    def reduce(self, made: Any) -> Any:
        made.fndesc.typemap = made.fndesc.calltypes = None  # of no use later; some can't be kept
        return (made.library.serialize_using_bitcode(), made.fndesc, made.environment,
                made.signature, made.reload_init, made._find_referenced_environments())

    def rebuild(self, context: Any, kept: Any) -> Any:
        (name, _, code), description, environment, signature, reload_init, others = kept
        library = InnerLibrary(context.codegen(), name)
        library._final_module = llvm.parse_bitcode(code)
        library._finalize_final_module()
        return CompileResult(
            target_context=context, typing_context=context.typing_context, library=library,
            environment=environment, fndesc=description, signature=signature,
            entry_point=entrance(library, description, environment), reload_init=reload_init,
            referenced_envs=others, type_annotation="", objectmode=False, lifted=(),
            typing_error=None, call_helper=None, metadata=None)
