/** The formats that are run, each loaded when a recording of it is met. */
import type { CaseRunner } from "../golden.ts";

export const runners: Readonly<Record<string, () => Promise<CaseRunner>>> = {
  ...Object.fromEntries(
    "apply auth crd defaults discovery fieldvalidation patch protobuf reads validation writes".split(" ").map((area) => [`apiserver-${area}`, async () => (await import("./apiserver/index.ts")).createApiServerRunner()]),
  ),
  division: async () => (await import("./division.ts")).division,
  match: async () => (await import("./match.ts")).match,
  names: async () => (await import("./names.ts")).names,
  "openkruise-cloneset": async () => (await import("./openkruise-functions.ts")).openKruiseCloneSet,
  "openkruise-inplace": async () => (await import("./openkruise-functions.ts")).openKruiseInPlace,
  "openkruise-scenarios": async () => (await import("./openkruise-scenarios/index.ts")).openKruiseScenarios,
  "openkruise-validation": async () => (await import("./openkruise-validation.ts")).openKruiseValidation,
  overrides: async () => (await import("./overrides.ts")).overrides,
};
