import { expect, test } from "vitest";
import { knownDefinitions } from "../interpreter/known-definitions.ts";
import { RUN_TO_COMPLETION } from "./run-to-completion.ts";

test("the kinds that run to completion are those whose definitions declare it", () => {
  const declared = knownDefinitions.filter(({ runsToCompletion }) => runsToCompletion).map(({ kind }) => kind.kind);

  expect([...RUN_TO_COMPLETION].toSorted()).toEqual(declared.toSorted());
});
