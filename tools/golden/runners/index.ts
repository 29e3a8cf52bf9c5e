/** The formats that are run, each loaded when a recording of it is met. */
import type { CaseRunner } from "../golden.ts";

export const runners: Readonly<Record<string, () => Promise<CaseRunner>>> = {
  division: async () => (await import("./division.ts")).division,
  match: async () => (await import("./match.ts")).match,
  names: async () => (await import("./names.ts")).names,
  overrides: async () => (await import("./overrides.ts")).overrides,
};
