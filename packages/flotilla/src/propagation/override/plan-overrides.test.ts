import { describe, expect, test } from "vitest";
import type { ClusterOverridePolicy, OverridePolicy } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Overriders, OverrideSpec } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { deepFreeze, messageOf, type JsonObject } from "@flotilla/base";
import { OverrideError } from "./override-error.ts";
import { formatApplied, planOverrides, type OverridePlan } from "./plan-overrides.ts";

const deployment: KubernetesObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop", labels: { app: "web" } },
  spec: {
    replicas: 2,
    template: {
      spec: {
        containers: [{ name: "main", image: "docker.io/web:1", args: ["--a"] }],
        initContainers: [{ name: "init", image: "web:1" }],
      },
    },
  },
} as KubernetesObject;
const configMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "settings", namespace: "shop" },
  data: { json: '{"a":1,"n":{"x":"y"}}', yaml: "b: 2\na: 1\nn: {x: y}\n", text: "hello" },
} as KubernetesObject;

const policy = (name: string, spec: OverrideSpec, namespace = "shop"): OverridePolicy => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "OverridePolicy",
  metadata: { name, namespace },
  spec,
});
const clusterPolicy = (name: string, spec: OverrideSpec): ClusterOverridePolicy => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterOverridePolicy",
  metadata: { name },
  spec,
});
/** One rule for every cluster. */
const rule = (overriders: Overriders): OverrideSpec => ({ overrideRules: [{ overriders }] });
const label = (value: string): Overriders => ({ labelsOverrider: [{ operator: "add", value: { from: value } }] });

function plan(
  object: KubernetesObject,
  overridePolicies: OverridePolicy[],
  clusterOverridePolicies: ClusterOverridePolicy[] = [],
): OverridePlan {
  return planOverrides(
    deepFreeze({ object, cluster: { metadata: { name: "oslo" } }, overridePolicies, clusterOverridePolicies }),
  );
}

const changed = (overriders: Overriders, object = deployment): JsonObject =>
  plan(object, [policy("p", rule(overriders))]).object as unknown as JsonObject;
const failure = (overriders: Overriders, object = deployment): string => {
  try {
    changed(overriders, object);
  } catch (error) {
    expect(error instanceof OverrideError).toBe(true);
    return messageOf(error);
  }
  return "it worked";
};
const main = (object: JsonObject): JsonObject | undefined =>
  (object as unknown as { spec: { template: { spec: { containers: JsonObject[] } } } }).spec.template.spec
    .containers[0];

describe("which overrides apply, and in which order", () => {
  const from = (result: OverridePlan): string | undefined => result.object.metadata.labels?.["from"];

  test("without override policies the object is returned unchanged", () => {
    const { object, appliedOverrides, appliedClusterOverrides } = plan(deployment, []);

    expect(object).toBe(deployment);
    expect([formatApplied(appliedOverrides), formatApplied(appliedClusterOverrides)]).toEqual([undefined, undefined]);
  });

  test("a namespaced policy takes precedence over a cluster policy", () => {
    expect(
      from(plan(deployment, [policy("a", rule(label("namespace")))], [clusterPolicy("b", rule(label("cluster")))])),
    ).toBe("namespace");
  });

  test("the more specific policy takes precedence, regardless of its name", () => {
    const byName = {
      ...rule(label("name")),
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
    };

    expect(from(plan(deployment, [policy("a", byName), policy("z", rule(label("everything")))]))).toBe("name");
  });

  test("among equals the last name takes precedence", () => {
    expect(from(plan(deployment, [policy("b", rule(label("b"))), policy("a", rule(label("a")))]))).toBe("b");
  });

  test("rules for other clusters are ignored", () => {
    const rules = {
      overrideRules: [
        { targetCluster: { clusterNames: ["paris"] }, overriders: label("paris") },
        { targetCluster: { clusterNames: ["oslo"] }, overriders: label("oslo") },
      ],
    };

    expect(from(plan(deployment, [policy("p", rules)]))).toBe("oslo");
  });

  test("a policy in the deprecated format is one rule", () => {
    expect(
      from(plan(deployment, [policy("p", { targetCluster: { clusterNames: ["oslo"] }, overriders: label("old") })])),
    ).toBe("old");
  });

  test("policies of other namespaces and for other objects are ignored", () => {
    const other = { ...rule(label("other")), resourceSelectors: [{ apiVersion: "v1", kind: "Secret" }] };

    expect(from(plan(deployment, [policy("a", rule(label("elsewhere")), "bank"), policy("b", other)]))).toBeUndefined();
  });

  test("applied overrides are recorded by policy name", () => {
    const specific = {
      ...rule(label("1")),
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
    };

    const { appliedOverrides } = plan(deployment, [policy("a", specific), policy("b", rule(label("2")))]);

    expect(formatApplied(appliedOverrides)).toBe(
      '[{"policyName":"a","overriders":{"labelsOverrider":[{"operator":"add","value":{"from":"1"}}]}},' +
        '{"policyName":"b","overriders":{"labelsOverrider":[{"operator":"add","value":{"from":"2"}}]}}]',
    );
  });
});

describe("image overriders", () => {
  test("change the main containers but not init containers", () => {
    const object = changed({ imageOverrider: [{ component: "Registry", operator: "replace", value: "mirror.local" }] });

    expect(main(object)).toMatchObject({ image: "mirror.local/web:1" });
    expect(object).toMatchObject({ spec: { template: { spec: { initContainers: [{ image: "web:1" }] } } } });
  });

  const cases: Record<
    string,
    {
      component: "Registry" | "Repository" | "Tag";
      operator: "add" | "remove" | "replace";
      value?: string;
      want: string;
    }
  > = {
    "append to a repository": {
      component: "Repository",
      operator: "add",
      value: "-slim",
      want: "docker.io/web-slim:1",
    },
    "remove a registry": { component: "Registry", operator: "remove", want: "web:1" },
    "remove a tag": { component: "Tag", operator: "remove", want: "docker.io/web" },
    "append to a tag": { component: "Tag", operator: "add", value: "-beta", want: "docker.io/web:1-beta" },
  };
  for (const [behaviour, { want, ...overrider }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(main(changed({ imageOverrider: [overrider] }))).toMatchObject({ image: want });
    });
  }

  test("change any string by its path", () => {
    const path = "/spec/template/spec/initContainers/0/image";
    const object = changed({
      imageOverrider: [{ component: "Tag", operator: "replace", value: "2", predicate: { path } }],
    });

    expect(object).toMatchObject({ spec: { template: { spec: { initContainers: [{ image: "web:2" }] } } } });
  });

  test("fail when the path does not exist", () => {
    expect(
      failure({
        imageOverrider: [
          { component: "Tag", operator: "remove", predicate: { path: "/spec/template/spec/containers/7/image" } },
        ],
      }),
    ).toMatch("no string there");
  });
});

describe("command and args overriders", () => {
  test("add elements and create a missing list", () => {
    const object = changed({
      argsOverrider: [{ containerName: "main", operator: "add", value: ["--b"] }],
      commandOverrider: [{ containerName: "main", operator: "add", value: ["run"] }],
    });

    expect(main(object)).toMatchObject({ args: ["--a", "--b"], command: ["run"] });
  });

  test("remove every listed value", () => {
    expect(
      main(changed({ argsOverrider: [{ containerName: "main", operator: "remove", value: ["--a", "--z"] }] })),
    ).toMatchObject({ args: [] });
  });

  test("leave other containers alone", () => {
    expect(changed({ argsOverrider: [{ containerName: "init", operator: "add", value: ["--b"] }] })).toEqual(
      deployment,
    );
  });
});

describe("label and annotation overriders", () => {
  test("add creates keys, replace and remove change only existing ones", () => {
    const object = changed({
      annotationsOverrider: [
        { operator: "add", value: { "example.com/a~b": "1" } },
        { operator: "replace", value: { absent: "1" } },
      ],
      labelsOverrider: [
        { operator: "replace", value: { app: "shop" } },
        { operator: "remove", value: { absent: "" } },
      ],
    });

    expect(object["metadata"]).toEqual({
      name: "web",
      namespace: "shop",
      labels: { app: "shop" },
      annotations: { "example.com/a~b": "1" },
    });
  });

  test("a prototype name is treated as an ordinary key", () => {
    const value = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    const { labels } = changed({ labelsOverrider: [{ operator: "add", value }] })["metadata"] as { labels: object };

    expect(Object.keys(labels)).toEqual(["app", "__proto__"]);
    expect(Object.getPrototypeOf(labels)).toBe(Object.prototype);
  });
});

describe("field overriders", () => {
  const data = (overriders: Overriders): JsonObject => changed(overriders, configMap)["data"] as JsonObject;

  test("change a JSON document inside a string", () => {
    expect(
      data({
        fieldOverrider: [{ fieldPath: "/data/json", json: [{ subPath: "/n/x", operator: "replace", value: 5 }] }],
      })["json"],
    ).toBe('{"a":1,"n":{"x":5}}');
  });

  test("change a YAML document, which is parsed as YAML 1.1 and written sorted", () => {
    expect(
      data({
        fieldOverrider: [{ fieldPath: "/data/yaml", yaml: [{ subPath: "/list", operator: "add", value: [1] }] }],
      })["yaml"],
    ).toBe('a: 1\nb: 2\n"false":\n  x: true\nlist:\n- 1\n');
  });

  test("fail without a document", () => {
    expect(
      failure(
        { fieldOverrider: [{ fieldPath: "/data/text", json: [{ subPath: "/a", operator: "remove" }] }] },
        configMap,
      ),
    ).toMatch("as JSON");
    expect(
      failure(
        { fieldOverrider: [{ fieldPath: "/data/text", yaml: [{ subPath: "/a", operator: "remove" }] }] },
        configMap,
      ),
    ).toMatch("neither an object nor a list");
  });

  test("reject a small document that expands to a huge one", () => {
    const levels = Array.from(
      { length: 30 },
      (_, level) => `a${level}: &a${level} [${level === 0 ? "x" : `*a${level - 1}, *a${level - 1}`}]`,
    );
    const bomb = { ...configMap, data: { yaml: levels.join("\n") } } as KubernetesObject;

    expect(
      failure(
        { fieldOverrider: [{ fieldPath: "/data/yaml", yaml: [{ subPath: "/b", operator: "add", value: 1 }] }] },
        bomb,
      ),
    ).toMatch("expands to more than");
  });
});

describe("plaintext overriders", () => {
  test("run after all others of their rule", () => {
    const object = changed({
      plaintext: [{ path: "/metadata/labels/from", operator: "replace", value: "last" }],
      ...label("first"),
    });

    expect(object).toMatchObject({ metadata: { labels: { from: "last" } } });
  });

  const failures: Record<string, { operator: "add" | "remove" | "replace"; path: string; value?: null; want: string }> =
    {
      "cannot replace a missing path": { operator: "replace", path: "/spec/nope", want: "no such path" },
      "cannot remove a missing path": { operator: "remove", path: "/spec/nope", want: "no such path" },
      "cannot add below a missing path": { operator: "add", path: "/spec/nope/deep", want: "nothing at /spec/nope" },
      "cannot turn the object into a non-object": {
        operator: "add",
        path: "",
        value: null,
        want: "cannot add the whole object",
      },
    };
  for (const [behaviour, { want, ...overrider }] of Object.entries(failures)) {
    test(behaviour, () => {
      const message = failure({ plaintext: [overrider] });

      expect(message).toMatch("applying override policy p");
      expect(message).toMatch(want);
    });
  }
});
