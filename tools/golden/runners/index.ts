/** The supported formats, each loaded on demand. */
import type { CaseRunner } from "../golden.ts";

const OPENKRUISE = "openkruise-";

/** `servers` is the number of API servers that requests go to. */
const runners: Readonly<Record<string, (servers: number) => Promise<CaseRunner>>> = {
  ...Object.fromEntries(
    "admission apply auth crd defaults discovery fieldvalidation patch protobuf reads validation writes"
      .split(" ")
      .map((area) => [
        `apiserver-${area}`,
        async (servers) => (await import("./apiserver/index.ts")).createApiServerRunner(servers),
      ]),
  ),
  division: async () => (await import("./division.ts")).division,
  estimator: async () => (await import("./estimator.ts")).estimator,
  "interpreters-native": async () => (await import("./interpreters.ts")).nativeInterpreters,
  "interpreters-thirdparty": async () => (await import("./interpreters.ts")).thirdPartyInterpreters,
  "lua-semantics": async () => (await import("./lua-semantics.ts")).luaSemantics,
  match: async () => (await import("./match.ts")).match,
  names: async () => (await import("./names.ts")).names,
  "ocm-placement": async () => (await import("./ocm-placement.ts")).ocmPlacement,
  "ocm-rollout": async () => (await import("./ocm-rollout.ts")).ocmRollout,
  "ocm-work": async () => (await import("./ocm-work.ts")).ocmWork,
  "openkruise-scenarios": async () => (await import("./openkruise-scenarios/index.ts")).openKruiseScenarios,
  "openkruise-selection": async () => (await import("./openkruise-selection.ts")).openKruiseSelection,
  "openkruise-validation": async () => (await import("./openkruise-validation.ts")).openKruiseValidation,
  overrides: async () => (await import("./overrides.ts")).overrides,
  spread: async () => (await import("./spread.ts")).spread,
};

/** The runner of a file; undefined for an unknown format. */
export async function loadRunner(file: string, servers = 1): Promise<CaseRunner | undefined> {
  if (Object.hasOwn(runners, file)) return runners[file]?.(servers);
  if (!file.startsWith(OPENKRUISE)) return undefined;
  const { openKruiseFunctions } = await import("./openkruise-functions.ts");
  return openKruiseFunctions.get(file.slice(OPENKRUISE.length));
}
