import type { CustomResourceDefinition } from "@flotilla/kubernetes";
import { describe, expect, test } from "vitest";
import { checkInstall, skewProblem } from "./check-install.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import { addressIn, projectsIn } from "./install-options.ts";
import { planMigrations } from "./migrate-versions.ts";
import { releasedDefinition } from "./remove-install.ts";

const FACTS: ClusterFacts = {
  version: "v1.36.3",
  isHub: false,
  hasFrontProxy: true,
  definitions: new Map(),
  installed: undefined,
  user: "admin",
};

describe("an installation", () => {
  const cases: Record<string, { facts: Partial<ClusterFacts>; want: RegExp }> = {
    "is rejected on a Kubernetes without admission policies": {
      facts: { version: "v1.29.4" },
      want: /runs Kubernetes v1\.29\.4; 1\.30 or later is needed/,
    },
    "is rejected on a server that serves Clusters already": { facts: { isHub: true }, want: /needs no installation/ },
    "is rejected beside another control plane": {
      facts: { definitions: new Map([["works.work.karmada.io", { isOurs: false }]]) },
      want: /another installation .*works\.work\.karmada\.io/,
    },
    "is rejected over a version that is too old": {
      facts: { installed: "0.1.0" },
      want: /install the versions in between/,
    },
  };
  for (const [behaviour, { facts, want }] of Object.entries(cases))
    test(behaviour, () => {
      const { problems } = checkInstall({ ...FACTS, ...facts }, ["openkruise"], "0.3.0");

      expect(problems).toEqual([expect.stringMatching(want)]);
    });

  test("leaves the definitions of an OpenKruise that runs there, and says so", () => {
    const facts = { ...FACTS, definitions: new Map([["clonesets.apps.kruise.io", { isOurs: false }]]) };

    const { problems, notes, projects } = checkInstall(facts, ["openkruise", "argo"]);

    expect(problems).toEqual([]);
    expect(projects).toEqual(["argo"]);
    expect(notes).toEqual([expect.stringContaining("the cluster has definitions of openkruise")]);
  });

  test("over one of ours keeps its definitions as its own", () => {
    const facts = { ...FACTS, definitions: new Map([["works.work.karmada.io", { isOurs: true }]]) };

    expect(checkInstall(facts, ["openkruise"])).toEqual({ problems: [], notes: [], projects: ["openkruise"] });
  });

  test("without a front proxy says what is missing", () => {
    expect(checkInstall({ ...FACTS, hasFrontProxy: false }, []).notes).toEqual([
      expect.stringContaining("Clusters have no proxy"),
    ]);
  });
});

describe("the difference of two versions", () => {
  const cases: Record<string, { installed: string; version: string; want: RegExp }> = {
    "of one minor version up is allowed": { installed: "0.1.3", version: "0.2.0", want: /^allowed$/ },
    "of one minor version down is allowed": { installed: "0.2.0", version: "0.1.9", want: /^allowed$/ },
    "of two minor versions up is rejected": { installed: "0.1.0", version: "0.3.0", want: /newer/ },
    "of two minor versions down is rejected": { installed: "0.3.0", version: "0.1.0", want: /older/ },
    "of a major version is rejected": { installed: "0.9.0", version: "1.0.0", want: /newer/ },
  };
  for (const [behaviour, { installed, version, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(skewProblem(installed, version) ?? "allowed").toMatch(want);
    });
});

const definition = (
  versions: { name: string; storage: boolean }[],
  more: object = {},
  storedVersions?: string[],
): CustomResourceDefinition =>
  ({
    metadata: { name: "things.example.com" },
    spec: { group: "example.com", versions: versions.map((version) => ({ ...version, served: true })), ...more },
    status: { storedVersions },
  }) as unknown as CustomResourceDefinition;

test("objects are rewritten for definitions that list another stored version, and for no others", () => {
  const versions = [
    { name: "v1", storage: true },
    { name: "v1beta1", storage: false },
  ];
  const mixed = definition(versions, {}, ["v1beta1", "v1"]);
  const names = new Set(["things.example.com"]);

  expect(planMigrations([mixed], names)).toEqual([{ definition: mixed, storage: "v1" }]);
  expect(planMigrations([definition(versions, {}, ["v1"])], names)).toEqual([]);
  expect(planMigrations([mixed], new Set())).toEqual([]);
});

test("a definition that stays serves the stored version without a process of ours", () => {
  const service = { namespace: "flotilla-system", name: "flotilla-webhooks" };
  const converted = definition(
    [
      { name: "v1beta1", storage: true },
      { name: "v1alpha1", storage: false },
    ],
    { conversion: { strategy: "Webhook", webhook: { clientConfig: { service } } } },
  );
  const doubled = definition([
    { name: "v1alpha1", storage: true },
    { name: "stored", storage: false },
  ]);

  expect(releasedDefinition(converted, "flotilla-system")?.spec).toMatchObject({
    conversion: { strategy: "None" },
    versions: [
      { name: "v1beta1", served: true },
      { name: "v1alpha1", served: false },
    ],
  });
  expect(releasedDefinition(doubled, "flotilla-system")?.spec.versions.map(({ name }) => name)).toEqual(["v1alpha1"]);
  expect(releasedDefinition(converted, "elsewhere")).toBeUndefined();
});

test("flags name known projects, and a host with a port", () => {
  expect(projectsIn("openkruise,argo")).toEqual(["openkruise", "argo"]);
  expect(projectsIn("none")).toEqual([]);
  expect(() => projectsIn("openkrise")).toThrow(/'openkrise' is not known.*openkruise/);
  expect(addressIn("hub.example.com:9443")).toEqual({ host: "hub.example.com", port: 9443 });
  for (const bad of ["hub", "hub:0", "hub:99999", "10.0.0.1", "-hub:1", "https://hub:1"])
    expect(() => addressIn(bad)).toThrow(/is not HOST:PORT/);
});
