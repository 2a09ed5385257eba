/**
 * The linear programming solver, HiGHS compiled to WebAssembly: loaded once, then called like a function.
 * Loading is asynchronous and takes about 90 ms, so it is a step of its own; solving is synchronous.
 */
import highsModule, { type Highs, type ModelData } from 'highs';

// The package's types describe its CommonJS entry; the ES entry that is loaded here exports the loader itself.
const loadHighs = highsModule as unknown as typeof highsModule.default;

let highs: Highs | undefined;

/** Resolves when `solve` may be called. Calling it again costs nothing. */
export async function loadSolver(): Promise<void> {
  highs ??= await loadHighs();
}

/**
 * The optimal values of the columns of `model`, [numCols], at a vertex of the feasible region.
 * Throws when `loadSolver` has not been awaited, and when there is no optimum.
 */
export function solve(model: ModelData): Float64Array {
  if (!highs) throw new Error("the solver is not loaded; await loadSolver() (or the policy's ready()) first");
  const { modelStatus } = highs.constants;
  return highs.withModel(model, (lp) => {
    lp.options.set({ output_flag: false, solver: 'simplex', presolve: 'off' });
    lp.run();
    const status = lp.getModelStatus();
    if (status !== modelStatus.optimal) throw new Error(`linear program ended with status ${status}`);
    return lp.getSolution().colValue;
  });
}
