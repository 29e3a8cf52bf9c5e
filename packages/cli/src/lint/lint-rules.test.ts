import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HUB } from "@flotilla/apimachinery";
import { Cluster } from "@flotilla/karmada";
import { Deployment, Namespace } from "@flotilla/kubernetes";
import { openOfflineHub } from "@flotilla/server";
import { makeCluster, makeDeployment } from "@flotilla/testing/builders.ts";
import type { OfflineHub } from "../command.ts";
import { chooseRules, lintSources } from "./lint-input.ts";
import type { LintResult } from "./run-lint.ts";
import { RULES } from "./rules/index.ts";

const { signal } = new AbortController();
let hub: OfflineHub;
/** Stands for a running hub, with the namespace `shop` and the member `paris`. */
let joinedHub: OfflineHub;
beforeAll(async () => {
  [hub, joinedHub] = await Promise.all([openOfflineHub(), openOfflineHub()]);
  await joinedHub.client.create(Cluster, HUB, makeCluster("paris"));
  await joinedHub.client.create(Namespace, HUB, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shop" },
  });
});
afterAll(() => Promise.all([hub.close(), joinedHub.close()]));
/** Rules about the members of the hub. */
const NEEDS_MEMBER = new Set(["unknown-member"]);

const fixture = (name: string): { name: string; text: string } => ({
  name,
  text: readFileSync(new URL(`testdata/${name}`, import.meta.url), "utf8"),
});

async function lint(
  sources: readonly { name: string; text: string }[],
  only: readonly string[] = [],
  { client } = only.some((id) => NEEDS_MEMBER.has(id)) ? joinedHub : hub,
): Promise<LintResult> {
  return lintSources(
    { sources, rules: chooseRules(only, []), strict: false, namespace: "default" },
    { client, isReal: client === joinedHub.client },
    signal,
  );
}

describe("each rule", () => {
  for (const { id, severity } of RULES) {
    test(`${id} finds the violation in its bad fixture, and none in the good one`, async () => {
      const bad = await lint([fixture(`${id}.bad.yaml`)], [id]);
      const good = await lint([fixture(`${id}.good.yaml`)], [id]);

      expect(bad.findings.map(({ rule }) => rule)).toContain(id);
      expect(bad.findings.map((finding) => finding.severity)).toContain(severity);
      expect(good.findings).toEqual([]);
    });
  }
});

/** Kinds that a hub does not serve without their CRD. */
const NEEDS_DEFINITION = new Set(["kruise-rollout-owner"]);

describe("the good fixtures are valid manifests:", () => {
  for (const { id } of RULES.filter((rule) => !NEEDS_DEFINITION.has(rule.id))) {
    test(`that of ${id} is accepted by the hub`, async () => {
      const { findings } = await lint([fixture(`${id}.good.yaml`)], ["refused", "unknown-kind", "unreadable"]);

      expect(findings).toEqual([]);
    });
  }
});

test("a misspelt kind is an error with the nearest known kind", async () => {
  const { findings } = await lint([fixture("unknown-kind.bad.yaml")], ["unknown-kind"]);

  expect(findings.find(({ object }) => object === "Clonset shop/web")).toMatchObject({
    severity: "error",
    message: "Clonset of apps.kruise.io is not served in v1alpha1 (did you mean 'CloneSet'?)",
  });
});

test("a finding has the line of the file, even after other documents", async () => {
  const { findings } = await lint([fixture("override-path.bad.yaml")], ["override-path"]);

  expect(findings.map(({ line, field, message }) => ({ line, field, message }))).toEqual([
    {
      line: 21,
      field: "spec.overrideRules[0].overriders.plaintext[0].path",
      message: "Deployment shop/web has nothing at /spec/minReadySeconds, so replace /spec/minReadySeconds fails",
    },
    {
      line: 22,
      field: "spec.overrideRules[0].overriders.plaintext[1].path",
      message: "Deployment shop/web has nothing at /spec/nothere, so add /spec/nothere/deeper fails",
    },
    {
      line: 23,
      field: "spec.overrideRules[0].overriders.plaintext[2].path",
      message:
        "Deployment shop/web has nothing at /spec/template/spec/containers/1, so replace /spec/template/spec/containers/1/image fails",
    },
  ]);
});

const parallelisms: Record<string, { parallelism: string; placement: string; want: string[] }> = {
  "a percentage that each cluster applies to its own nodes": {
    parallelism: "50%",
    placement: "{ replicaScheduling: { replicaSchedulingType: Divided } }",
    want: ["PropagationPolicy shop/web propagates it to every matching member, and each runs 50% at a time"],
  },
  "a number that each cluster gets as written": {
    parallelism: "5",
    placement: "{}",
    want: ["PropagationPolicy shop/web propagates it to every matching member, and each runs 5 at a time"],
  },
  "no number that the policy divides": {
    parallelism: "5",
    placement: "{ replicaScheduling: { replicaSchedulingType: Divided } }",
    want: [],
  },
};
for (const [behaviour, { parallelism, placement, want }] of Object.entries(parallelisms)) {
  test(`the parallelism of a BroadcastJob: lint finds ${behaviour}`, async () => {
    const { name, text } = fixture("kruise-parallelism.bad.yaml");
    const changed = text
      .replace("parallelism: 5", `parallelism: ${parallelism}`)
      .replace(/placement:\n.*/, `placement: ${placement}`);

    const { findings } = await lint([{ name, text: changed }], ["kruise-parallelism"]);

    expect(findings.map(({ message }) => message)).toEqual(want);
  });
}

test("a finding inside a ManifestWork has the line of the work's file", async () => {
  const { findings } = await lint([fixture("kruise-partition-count.bad.yaml")], ["kruise-partition-count"]);

  expect(findings.map(({ line, object, field }) => ({ line, object, field }))).toEqual([
    { line: 16, object: "CloneSet shop/web", field: "spec.updateStrategy.partition" },
    { line: 33, object: "CloneSet shop/web", field: "spec.updateStrategy.partition" },
  ]);
});

test("a quota that assigns a part to a cluster that has not joined is found, with the nearest member", async () => {
  const { findings } = await lint([fixture("unknown-member.bad.yaml")], ["unknown-member"]);

  expect(findings.map(({ object, field, message }) => [object, field, message])).toContainEqual([
    "FederatedResourceQuota shop/team",
    "spec.staticAssignments[0].clusterName",
    "no joined cluster is named pariss (did you mean 'paris'?)",
  ]);
});

test("the target of an autoscaler may be on the hub instead of among the files", async () => {
  const [, scaler = ""] = fixture("scale-target.good.yaml").text.split("---\n");
  const before = await lint([{ name: "hpa.yaml", text: scaler }], ["scale-target"], joinedHub);
  await joinedHub.client.create(Deployment, HUB, makeDeployment("shop/web").build());

  expect(before.findings.map(({ message }) => message)).toEqual(["no Deployment web in namespace shop"]);
  expect((await lint([{ name: "hpa.yaml", text: scaler }], ["scale-target"], joinedHub)).findings).toEqual([]);
});

test("a policy in a version that the hub does not serve competes with none, and takes no object", async () => {
  const [workload = "", first = "", second = ""] = fixture("policies-tie.bad.yaml").text.split("---\n");
  const old = second.replace("apiVersion: apps/v1,", "apiVersion: apps/v1beta1,");

  const { findings } = await lint(
    [{ name: "web.yaml", text: [workload, first, old].join("---\n") }],
    ["policies-tie", "unknown-kind", "policy-selects-nothing"],
  );

  expect(findings.map(({ rule }) => rule)).toEqual(["policy-selects-nothing", "unknown-kind"]);
});

describe("a manifest disables rules", () => {
  const text = fixture("kruise-partition-hold.bad.yaml").text;
  const cases: Record<string, string> = {
    "with an annotation": text.replace(
      "namespace: shop }",
      "namespace: shop, annotations: { flotilla.dev/lint-ignore: 'kruise-surge, kruise-partition-hold' } }",
    ),
    "with a comment in its document": `# flotilla.dev/lint-ignore: kruise-partition-hold\n${text}`,
    "all of them with an asterisk": `${text}# flotilla.dev/lint-ignore: "*"\n`.replace('"*"', "*"),
  };
  for (const [behaviour, silenced] of Object.entries(cases)) {
    test(behaviour, async () => {
      const result = await lint([{ name: "web.yaml", text: silenced }], ["kruise-partition-hold"]);

      expect(result).toMatchObject({ findings: [], errors: 0, warnings: 0, ignored: 1 });
    });
  }

  test("a manifest disables rules in one document and not in the next", async () => {
    const { findings, ignored } = await lint(
      [{ name: "web.yaml", text: `# flotilla.dev/lint-ignore: kruise-partition-hold\n${text}---\n${text}` }],
      ["kruise-partition-hold"],
    );

    expect({ lines: findings.map(({ line }) => line), ignored }).toEqual({ lines: [22], ignored: 1 });
  });
});

test("an unknown rule is a usage error, with a suggestion", () => {
  expect(() => chooseRules(["override-paht"], [])).toThrow("did you mean 'override-path'?");
  expect(() => chooseRules([], ["nonsense"])).toThrow("unknown lint rule 'nonsense'");
});

test("objects of a CRD among the files are validated against it", async () => {
  const definition = fixture("crd-not-on-members.good.yaml");
  const { findings } = await lint(
    [{ name: "game.yaml", text: definition.text.replace("spec: { size: 3 }", "spec: { size: many }") }],
    ["refused"],
  );

  expect(findings).toMatchObject([{ object: "GameFleet shop/eu", field: "spec.size", line: 17 }]);
});

test("a customization with an unknown field is rejected, and its scripts are reported once", async () => {
  const { text } = fixture("interpreter-script.bad.yaml");
  const misspelt = text.replace("  target:", "  targets: {}\n  target:");

  const [wrong, script] = [
    await lint([{ name: "rules.yaml", text: misspelt }], ["refused"]),
    await lint([{ name: "rules.yaml", text }], ["refused", "interpreter-script"]),
  ];

  expect(wrong.findings).toMatchObject([{ rule: "refused", field: "spec.targets" }]);
  expect(script.findings.map(({ rule, line }) => `${rule} ${line}`)).toEqual([
    "interpreter-script 10",
    "interpreter-script 14",
  ]);
});

test("two customizations for the same operation and kind are an error", async () => {
  const { text } = fixture("interpreter-script.good.yaml");
  const other = text.replace("name: gamefleet", "name: other");

  const { findings } = await lint([{ name: "rules.yaml", text: `${text}---\n${other}` }], ["interpreter-script"]);

  expect(new Set(findings.map(({ severity }) => severity))).toEqual(new Set(["error"]));
});

test("cluster names of a policy are not reported as unknown by a hub without members", async () => {
  const text = `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: web, namespace: shop }
spec:
  resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment }]
  placement: { clusterAffinity: { clusterNames: [paris] } }
`;

  const { findings } = await lint([{ name: "policy.yaml", text }], ["refused", "shorthand"]);

  expect(findings).toEqual([]);
});

test("a misspelt kind in a selector is an error, and one that is unknown a warning", async () => {
  const text = `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: web, namespace: shop }
spec:
  resourceSelectors:
    - { apiVersion: apps.kruise.io/v1alpha1, kind: Clonset }
    - { apiVersion: example.com/v1, kind: Spaceship }
  placement: { clusterAffinity: { clusterNames: [paris] } }
`;

  const { findings } = await lint([{ name: "policy.yaml", text }], ["shorthand", "unknown-kind"]);

  expect(findings).toMatchObject([
    {
      rule: "unknown-kind",
      severity: "error",
      line: 6,
      message: expect.stringContaining("(did you mean 'CloneSet'?)"),
    },
    {
      rule: "unknown-kind",
      severity: "warning",
      line: 7,
      message: expect.stringContaining("does not serve Spaceship"),
    },
  ]);
});

test("an unknown member and ignored spread constraints are warnings of their own rules", async () => {
  const spread = fixture("ignored-spread.bad.yaml");

  const { findings } = await lint(
    [fixture("unknown-member.bad.yaml"), spread],
    ["shorthand", "unknown-member", "ignored-spread"],
  );

  expect(findings.filter(({ message }) => !message.includes("oslo"))).toMatchObject([
    {
      rule: "ignored-spread",
      message:
        "spread constraints are ignored (at least 1 and at most 1 of cluster), because replicas are divided by static weights",
    },
    {
      rule: "unknown-member",
      message: "no joined cluster is named pariss",
      fix: "Correct or remove the name, or join the cluster.",
    },
    { rule: "unknown-member", object: "FederatedResourceQuota shop/team" },
  ]);
});

test("admission warnings are reported without a real hub, as a user would receive them", async () => {
  const text = `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: log, namespace: shop }
spec:
  resourceSelectors: [{ apiVersion: apps.kruise.io/v1alpha1, kind: SidecarSet }]
  placement: { clusterAffinity: { clusterNames: [paris] } }
`;

  const { findings } = await lint([{ name: "policy.yaml", text }], ["shorthand"]);

  expect(findings).toMatchObject([
    { rule: "shorthand", severity: "warning", line: 5, message: expect.stringContaining("is in no namespace") },
  ]);
});

test("documents that are not manifests are skipped", async () => {
  const { findings, manifests, passedOver } = await lint([
    {
      name: "values.yaml",
      text: "replicas: 3\n---\n- a\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n",
    },
  ]);

  expect({ findings, manifests, passedOver }).toEqual({ findings: [], manifests: 1, passedOver: 2 });
});

test("hostile manifests are checked like any other", async () => {
  const hostile = [
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: x, annotations: { __proto__: y } }\nspec: { __proto__: { a: 1 }, constructor: 2 }\n",
    "apiVersion: ../../x\nkind: Y\n",
    "apiVersion: 3\nkind: Z\nmetadata: []\nspec: [1]\n",
    "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: { name: x }\nspec: { resourceSelectors: 7, placement: [], overrideRules: x }\n",
  ];

  const { findings } = await lint([{ name: "hostile.yaml", text: hostile.join("---\n") }]);

  expect(findings.length).toBeGreaterThan(0);
});
