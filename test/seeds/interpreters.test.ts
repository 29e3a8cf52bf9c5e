/**
 * Customizations as users write them are accepted, cause warnings where they are shorthand, and do what the text
 * describes.
 */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { kindAdmissions } from "@flotilla/server";
import { ResourceInterpreterCustomization } from "@flotilla/karmada";
import { createTestServer, PROFILE } from "@flotilla/testing/api-server.ts";
import { createFakeClock, deepFreeze, isObject, type JsonObject } from "@flotilla/base";
import {
  createCustomizationLevel,
  createInterpreter,
  createLuaEngine,
  interpreterAdmissions,
} from "@flotilla/flotilla";
import type { AnyObject, Interpreter } from "@flotilla/flotilla";
import { type StatusItem } from "@flotilla/kubernetes";
import { parseYaml } from "@flotilla/apimachinery";

interface Accepted {
  warnings: string[];
  stored: JsonObject;
  /** With only the rules of this customization. */
  interpreter: Interpreter;
}

const PATH = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations?fieldValidation=Strict";

/** Sends a file as `kubectl create` does, and reads the rules from the stored object. */
async function accept(name: string): Promise<Accepted> {
  const server = await createTestServer({
    profiles: { hub: { ...PROFILE, customs: [ResourceInterpreterCustomization] } },
    admissions: [...kindAdmissions, ...interpreterAdmissions],
  });
  const sent = readFileSync(new URL(`./interpreters/${name}.yaml`, import.meta.url), "utf8");
  const { status, headers, body } = await server.request("POST", PATH, parseYaml(sent));
  expect(body).toMatchObject({ kind: "ResourceInterpreterCustomization" });
  expect(status).toBe(201);
  const level = createCustomizationLevel({ engine: createLuaEngine({ clock: createFakeClock() }) });
  level.set(body as unknown as ResourceInterpreterCustomization);
  const warnings = [headers["warning"] ?? []]
    .flat()
    .map((line) => /^299 - "(.*)"$/.exec(line)?.[1]?.replaceAll('\\"', '"') ?? line);
  return { warnings, stored: body, interpreter: createInterpreter([level]) };
}

const container = { name: "app", image: "app:1", resources: { requests: { cpu: "250m", memory: "64Mi" } } };
const template = { metadata: { labels: { app: "shop" } }, spec: { containers: [container] } };
const requirements = { resourceRequest: { cpu: "250m", memory: "64Mi" } };
const workload = (apiVersion: string, kind: string, spec: object, status?: object): AnyObject =>
  deepFreeze({ apiVersion, kind, metadata: { name: "shop", namespace: "prod" }, spec, status });
const items = (...statuses: (JsonObject | undefined)[]): StatusItem[] =>
  statuses.map((status, index) => ({ clusterName: `member${index + 1}`, status, applied: true, health: "Healthy" }));
const specOf = (object: AnyObject): JsonObject => (object as unknown as { spec: JsonObject }).spec;
const statusOf = (object: AnyObject | undefined): unknown => (object as { status?: unknown } | undefined)?.status;
const rulesIn = ({ spec }: JsonObject): string[] =>
  isObject(spec) && isObject(spec["customizations"]) ? Object.keys(spec["customizations"]).sort() : [];

describe.each([
  { file: "introduction-cloneset", apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", kept: "scaleStrategy" },
  {
    file: "introduction-statefulset",
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "StatefulSet",
    kept: "podManagementPolicy",
  },
])("$file has paths instead of scripts", ({ file, apiVersion, kind, kept }) => {
  let accepted: Accepted;
  beforeAll(async () => {
    accepted = await accept(file);
  });

  test("every rule causes one warning with its canonical form, and Retain one about the strategy that it keeps", () => {
    expect(accepted.warnings).toEqual([
      "spec.customizations.replicas.jsonPath is shorthand; it is stored in the canonical form, " +
        "spec.customizations.replicaResource.luaScript with a function GetReplicas",
      "spec.customizations.scale.jsonPath is shorthand; it is stored in the canonical form, " +
        "spec.customizations.replicaRevision.luaScript with a function ReviseReplica",
      "spec.customizations.statusReflection.jsonPath is shorthand; it is stored in the canonical form, " +
        "spec.customizations.statusReflection.luaScript with a function ReflectStatus",
      "spec.customizations.retention.jsonPaths is shorthand; it is stored in the canonical form, " +
        "spec.customizations.retention.luaScript with a function Retain",
      "spec.customizations.retention: the Retain rule leaves spec.updateStrategy to the members: values of the " +
        "template apply only where the object is created, so the hub cannot release by partition, and stops a " +
        "release that would reach more pods than requested",
    ]);
    expect(rulesIn(accepted.stored)).toEqual(["replicaResource", "replicaRevision", "retention", "statusReflection"]);
  });

  test("replicas are read and written at their path, with the pod's requirements", async () => {
    const object = workload(apiVersion, kind, { replicas: 5, template });

    expect(await accepted.interpreter.replicas(object)).toEqual({ replicas: 5, requirements });
    expect(specOf(await accepted.interpreter.reviseReplicas(object, 2))).toEqual({ replicas: 2, template });
  });

  test("the whole status is reflected, and a missing one is not a failure", async () => {
    expect(
      await accepted.interpreter.reflectStatus(
        workload(apiVersion, kind, {}, { replicas: 2, conditions: [{ type: "Ready" }] }),
      ),
    ).toEqual({ replicas: 2, conditions: [{ type: "Ready" }] });
    expect(await accepted.interpreter.reflectStatus(workload(apiVersion, kind, {}))).toEqual({});
  });

  test("the member's values at the named paths are retained, and nothing else", async () => {
    const desired = workload(apiVersion, kind, { replicas: 5, updateStrategy: { type: "ReCreate" } });
    const observed = workload(apiVersion, kind, {
      replicas: 3,
      updateStrategy: { type: "InPlaceIfPossible" },
      [kept]: "theirs",
    });

    expect(specOf(await accepted.interpreter.retain(desired, observed))).toEqual({
      replicas: 5,
      updateStrategy: { type: "InPlaceIfPossible" },
      [kept]: "theirs",
    });
    expect(await accepted.interpreter.retain(desired, workload(apiVersion, kind, { replicas: 3 }))).toEqual(desired);
  });
});

describe("guide-cloneset", () => {
  const apiVersion = "apps.kruise.io/v1alpha1";
  const cloneSet = (spec: object, status?: object): AnyObject => workload(apiVersion, "CloneSet", spec, status);
  let accepted: Accepted;
  beforeAll(async () => {
    accepted = await accept("guide-cloneset");
  });

  test("causes warnings with the canonical names, and that Karmada expects more than a status", () => {
    expect(accepted.warnings).toEqual([
      "spec.customizations.replicas is shorthand; it is stored in the canonical form, spec.customizations.replicaResource",
      "spec.customizations.reviseReplica is shorthand; it is stored in the canonical form, spec.customizations.replicaRevision",
      "spec.customizations.statusAggregation.luaScript: line 17: AggregateStatus returns a bare status, which " +
        "is taken as the status of the object; the canonical form sets desiredObj.status and returns desiredObj",
    ]);
    expect(rulesIn(accepted.stored)).toEqual([
      "healthInterpretation",
      "replicaResource",
      "replicaRevision",
      "retention",
      "statusAggregation",
    ]);
  });

  test("counts replicas with the pod's requirements, and revises them", async () => {
    expect(await accepted.interpreter.replicas(cloneSet({ replicas: 4, template }))).toEqual({
      replicas: 4,
      requirements,
    });
    expect(specOf(await accepted.interpreter.reviseReplicas(cloneSet({ replicas: 4, template }), 1))).toEqual({
      replicas: 1,
      template,
    });
  });

  test("aggregates the members' counters into the object's status", async () => {
    const object = cloneSet({ replicas: 4 }, { observedGeneration: 1 });

    const sum = await accepted.interpreter.aggregateStatus(
      object,
      items(
        { replicas: 3, readyReplicas: 2, updatedReplicas: 1 },
        { replicas: 1, readyReplicas: 1, availableReplicas: 1 },
        undefined,
      ),
    );

    expect(sum).toEqual({
      ...object,
      status: {
        replicas: 4,
        readyReplicas: 3,
        updatedReplicas: 1,
        availableReplicas: 1,
        updatedReadyReplicas: 0,
        expectedUpdatedReplicas: 0,
      },
    });
  });

  test("retains a member's suspension and status", async () => {
    const retained = await accepted.interpreter.retain(
      cloneSet({ replicas: 4 }),
      cloneSet({ replicas: 2, suspend: true }, { replicas: 2 }),
    );

    expect(retained).toEqual(cloneSet({ replicas: 4, suspend: true }, { replicas: 2 }));
  });

  test.each([
    { status: undefined, want: "Unhealthy" },
    { status: { readyReplicas: 1, availableReplicas: 1 }, want: "Unhealthy" },
    { status: { readyReplicas: 2, availableReplicas: 2 }, want: "Healthy" },
  ])("is $want with the status $status", async ({ status, want }) => {
    expect(await accepted.interpreter.health(cloneSet({ replicas: 2 }, status))).toBe(want);
  });
});

describe("guide-statefulset", () => {
  const statefulSet = (spec: object, status?: object): AnyObject =>
    workload("apps.kruise.io/v1beta1", "StatefulSet", spec, status);

  test("counts, revises, aggregates and reports health as its text describes", async () => {
    const { warnings, interpreter } = await accept("guide-statefulset");
    const object = statefulSet({ replicas: 3, template });

    expect(warnings).toHaveLength(3);
    expect(await interpreter.replicas(object)).toEqual({ replicas: 3 });
    expect(specOf(await interpreter.reviseReplicas(object, 2))).toEqual({ replicas: 2, template });
    expect(
      statusOf(
        await interpreter.aggregateStatus(
          object,
          items({ replicas: 2, readyReplicas: 2 }, { replicas: 1, currentReplicas: 1 }),
        ),
      ),
    ).toEqual({ replicas: 3, readyReplicas: 2, currentReplicas: 1, updatedReplicas: 0 });
    expect(await interpreter.health(statefulSet({}, { replicas: 2, readyReplicas: 2 }))).toBe("Healthy");
    expect(await interpreter.health(statefulSet({}, { replicas: 2 }))).toBe("Unhealthy");
  });

  test("applies to its version and to no other", async () => {
    const { interpreter } = await accept("guide-statefulset");

    expect(
      await interpreter.replicas(workload("apps.kruise.io/v1alpha1", "StatefulSet", { replicas: 3 })),
    ).toBeUndefined();
    expect(await interpreter.replicas(workload("apps/v1", "StatefulSet", { replicas: 3 }))).toBeUndefined();
  });
});

describe("guide-sidecarset", () => {
  const sidecarSet = (spec: object, status?: object): AnyObject =>
    workload("apps.kruise.io/v1alpha1", "SidecarSet", spec, status);

  test("is canonical, so it causes no warnings", async () => {
    expect((await accept("guide-sidecarset")).warnings).toEqual([]);
  });

  test("reflects, aggregates, retains and reports health as its text describes", async () => {
    const { interpreter } = await accept("guide-sidecarset");
    const object = sidecarSet({ containers: [container] });

    expect(await interpreter.reflectStatus(sidecarSet({}, { matchedPods: 4, updatedPods: 1, other: true }))).toEqual({
      matchedPods: 4,
      updatedPods: 1,
      readyPods: 0,
    });
    expect(await interpreter.reflectStatus(object)).toEqual({});
    expect(await interpreter.replicas(object)).toEqual({ replicas: 0 });
    expect(
      await interpreter.aggregateStatus(
        object,
        items({ matchedPods: 4, updatedPods: 1 }, { matchedPods: 2, readyPods: 2 }),
      ),
    ).toEqual({ ...object, status: { matchedPods: 6, updatedPods: 1, readyPods: 2 } });
    expect(await interpreter.retain(object, sidecarSet({}, { matchedPods: 4 }))).toEqual(object);
    expect(await interpreter.health(object)).toBe("Unhealthy");
    expect(await interpreter.health(sidecarSet({}, { matchedPods: 0 }))).toBe("Healthy");
    expect(await interpreter.health(sidecarSet({}, { matchedPods: 2, updatedPods: 1 }))).toBe("Unhealthy");
    expect(await interpreter.dependencies(object)).toEqual([]);
  });
});

test("guide-uniteddeployment aggregates and reports health as its text describes, with a warning that a status alone is not canonical", async () => {
  const { warnings, interpreter } = await accept("guide-uniteddeployment");
  const unitedDeployment = (spec: object, status?: object): AnyObject =>
    workload("apps.kruise.io/v1alpha1", "UnitedDeployment", spec, status);

  expect(warnings).toEqual([expect.stringContaining("AggregateStatus returns a bare status")]);
  expect(
    statusOf(
      await interpreter.aggregateStatus(
        unitedDeployment({}),
        items({ replicas: 2, readyReplicas: 1 }, { replicas: 1 }),
      ),
    ),
  ).toEqual({ replicas: 3, readyReplicas: 1 });
  expect(await interpreter.health(unitedDeployment({ replicas: 3 }, { readyReplicas: 3 }))).toBe("Healthy");
  expect(await interpreter.health(unitedDeployment({ replicas: 3 }, { readyReplicas: 2 }))).toBe("Unhealthy");
});

test("talk-cloneset counts, revises and aggregates, with a warning about its global variables", async () => {
  const { warnings, interpreter } = await accept("talk-cloneset");
  const object = workload("apps.kruise.io/v1alpha1", "CloneSet", { replicas: 4, template });

  expect(warnings).toEqual([
    expect.stringContaining(
      "replicaResource.luaScript: line 2: the script sets global variables (replica, requirement)",
    ),
    expect.stringContaining(
      "statusAggregation.luaScript: line 2: the script sets global variables (replicas, updatedReplicas, " +
        "readyReplicas, availableReplicas, updatedReadyReplicas and 1 more)",
    ),
  ]);
  expect(await interpreter.replicas(object)).toEqual({ replicas: 4, requirements });
  expect(specOf(await interpreter.reviseReplicas(object, 3))).toEqual({ replicas: 3, template });
  expect(
    statusOf(await interpreter.aggregateStatus(object, items({ replicas: 2, updatedReplicas: 2 }, { replicas: 2 }))),
  ).toEqual({
    replicas: 4,
    updatedReplicas: 2,
    readyReplicas: 0,
    availableReplicas: 0,
    updatedReadyReplicas: 0,
    expectedUpdatedReplicas: 0,
  });
});

test("talk-workflow retains a member's suspension, and derives health from its phase", async () => {
  const { warnings, interpreter } = await accept("talk-workflow");
  const workflow = (spec: object, status?: object): AnyObject =>
    workload("argoproj.io/v1alpha1", "Workflow", spec, status);

  expect(warnings).toEqual([]);
  expect(
    await interpreter.retain(
      workflow({ entrypoint: "main" }),
      workflow({ entrypoint: "main", suspend: true }, { phase: "Running" }),
    ),
  ).toEqual(workflow({ entrypoint: "main", suspend: true }, { phase: "Running" }));
  expect(await interpreter.health(workflow({}, { phase: "Running" }))).toBe("Healthy");
  expect(await interpreter.health(workflow({}, { phase: "Failed" }))).toBe("Unhealthy");
  expect(await interpreter.health(workflow({}))).toBe("Unhealthy");
});
