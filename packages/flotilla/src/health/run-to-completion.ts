/** The kinds whose pods end: they progress for as long as they run, which is no problem by itself. */
import { knownDefinitions } from "../interpreter/known-definitions.ts";

export const RUN_TO_COMPLETION: ReadonlySet<string> = new Set(
  knownDefinitions.filter(({ runsToCompletion }) => runsToCompletion).map(({ kind }) => kind.kind),
);
