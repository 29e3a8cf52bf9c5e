/** How an API server validates ResourceInterpreterCustomizations: valid, invalid, conflicting, and in shorthand. */
import { beforeEach, describe, expect, test } from "vitest";
import { kubernetesAdmissions } from "@flotilla/kubernetes";
import { ResourceInterpreterCustomization, karmadaAdmissions } from "@flotilla/karmada";
import { createTestServer, PROFILE } from "@flotilla/testing/api-server.ts";
import type { Answered, TestServer } from "@flotilla/testing/api-server.ts";
import { makeCustomization } from "./test-customization.ts";
import { interpreterAdmissions } from "./admissions.ts";

const PATH = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations";
const STRICT = "?fieldValidation=Strict";
const HEALTH = "function InterpretHealth(o) return true end";
const DEPENDENCIES = "function GetDependencies(o) return {} end";

let server: TestServer;
beforeEach(async () => {
  server = await createTestServer({
    profiles: { hub: { ...PROFILE, customs: [ResourceInterpreterCustomization] } },
    admissions: [...kubernetesAdmissions, ...karmadaAdmissions(), ...interpreterAdmissions],
  });
});

const create = (body: object): Promise<Answered> => server.request("POST", PATH + STRICT, body);
const merge = (name: string, body: object): Promise<Answered> =>
  server.request("PATCH", `${PATH}/${name}${STRICT}`, body, { "content-type": "application/merge-patch+json" });
const withRules = (name: string, customizations: object): object => ({
  ...makeCustomization(name, {}),
  spec: { ...makeCustomization(name, {}).spec, customizations },
});
const warningsOf = ({ headers }: Answered): number => [headers["warning"] ?? []].flat().length;

describe("two customizations of one target", () => {
  test("conflict if they customize the same operation", async () => {
    await create(makeCustomization("a", { healthInterpretation: HEALTH }));

    const { status, body } = await create(makeCustomization("b", { healthInterpretation: HEALTH }));

    expect(status).toBe(422);
    expect(body["message"]).toContain(
      "spec.customizations.healthInterpretation: Forbidden: conflicting with " +
        "InterpreterOperation(InterpretHealth) of existing ResourceInterpreterCustomization(a)",
    );
  });

  test("may both define dependencies, and split the other operations", async () => {
    await create(makeCustomization("a", { healthInterpretation: HEALTH, dependencyInterpretation: DEPENDENCIES }));

    const { status } = await create(makeCustomization("b", { dependencyInterpretation: DEPENDENCIES }));

    expect(status).toBe(201);
  });

  test("two customizations of one target of different versions do not conflict", async () => {
    await create(makeCustomization("a", { healthInterpretation: HEALTH }));

    const { status } = await create(
      makeCustomization("b", { healthInterpretation: HEALTH }, { apiVersion: "example.com/v2", kind: "Web" }),
    );

    expect(status).toBe(201);
  });

  test("a customization does not conflict with itself", async () => {
    await create(makeCustomization("a", { healthInterpretation: HEALTH }));

    const { status } = await merge("a", {
      spec: { customizations: { healthInterpretation: { luaScript: `${HEALTH} -- again` } } },
    });

    expect(status).toBe(200);
  });
});

describe("a customization", () => {
  test("is validated on update, with the field of the error", async () => {
    await create(makeCustomization("a", { healthInterpretation: HEALTH }));

    const { status, body } = await merge("a", {
      spec: { customizations: { healthInterpretation: { luaScript: "function" } } },
    });

    expect(status).toBe(422);
    expect(body["message"]).toContain(
      "spec.customizations.healthInterpretation.luaScript: Invalid value: InterpreterOperation(InterpretHealth) Lua script error:",
    );
  });

  test("a customization with warnings can be labelled without repeating them", async () => {
    const created = await create(
      makeCustomization("a", { healthInterpretation: "function InterpretHealth(o) a = 1 return true end" }),
    );

    const relabelled = await merge("a", { metadata: { labels: { team: "shop" } } });

    expect([warningsOf(created), warningsOf(relabelled)]).toEqual([1, 0]);
  });

  test("is validated strictly except for the shorthand", async () => {
    const { status, body } = await create(
      withRules("a", { healthInterpretation: { jsonPath: ".status" }, scaling: {} }),
    );

    expect(status).toBe(400);
    expect(body["message"]).toContain(
      'unknown field "spec.customizations.healthInterpretation.jsonPath", unknown field "spec.customizations.scaling"',
    );
  });

  test("is rejected with every error of its shorthand", async () => {
    const { status, body } = await create(
      withRules("a", { replicas: { jsonPath: "spec" }, retention: { jsonPaths: [".kind"] } }),
    );

    expect(status).toBe(422);
    expect(body["message"]).toMatch(
      /spec\.customizations\.replicas\.jsonPath: Invalid value.*spec\.customizations\.retention\.jsonPaths\[0\]: Invalid value/s,
    );
  });

  test("a customization in shorthand is rejected for its error, not for being shorthand", async () => {
    const { status, body } = await create(withRules("a", { replicas: { luaScript: "function GetReplicas(" } }));

    expect(status).toBe(422);
    expect(body["message"]).toContain("spec.customizations.replicaResource.luaScript: Invalid value");
  });

  test("a customization with a non-object value is rejected by the schema", async () => {
    for (const customizations of [5, [], "x", { replicas: 5 }, { retention: [] }]) {
      const { status, body } = await create(withRules("a", customizations as object));

      expect(status).toBe(422);
      expect(body["message"]).toContain("must be of type object");
    }
  });
});

describe("shorthand in a server-side apply", () => {
  const apply = (customizations: object): Promise<Answered> =>
    server.request("PATCH", `${PATH}/a${STRICT}&fieldManager=shop`, withRules("a", customizations), {
      "content-type": "application/apply-patch+yaml",
    });

  test("is stored in its expanded form, and removed when it is no longer applied", async () => {
    const created = await apply({ scale: { jsonPath: ".spec.replicas" }, healthInterpretation: { luaScript: HEALTH } });
    const again = await apply({ healthInterpretation: { luaScript: HEALTH } });

    expect([created.status, warningsOf(created)]).toEqual([201, 1]);
    expect(created.body).toMatchObject({
      spec: {
        customizations: { replicaRevision: { luaScript: expect.stringContaining("function ReviseReplica") as string } },
      },
    });
    expect(again.body).toMatchObject({ spec: makeCustomization("a", { healthInterpretation: HEALTH }).spec });
    expect(again.body).not.toHaveProperty("spec.customizations.replicaRevision");
  });

  test("is rejected with its errors", async () => {
    const { status, body } = await apply({ scale: { jsonPath: "spec" } });

    expect(status).toBe(422);
    expect(body["message"]).toContain("spec.customizations.scale.jsonPath: Invalid value");
  });
});

describe("shorthand that is applied again", () => {
  const written = { replicas: { jsonPath: ".spec.replicas" }, retention: { jsonPaths: [".spec.paused"] } };

  test("changes nothing", async () => {
    const { body: created } = await create(withRules("a", written));

    const { status, body } = await merge("a", { spec: { customizations: written } });

    expect(status).toBe(200);
    expect(body).toEqual(created);
  });

  test("gives way to scripts under canonical names", async () => {
    await create(withRules("a", written));
    const retention = { jsonPaths: null, luaScript: "function Retain(d, o) return d end" };

    const { status, body } = await merge("a", {
      spec: {
        customizations: {
          replicas: null,
          replicaResource: { luaScript: "function GetReplicas(o) return 1 end" },
          retention,
        },
      },
    });

    expect(status).toBe(200);
    expect(body).toMatchObject({
      spec: {
        customizations: {
          replicaResource: { luaScript: "function GetReplicas(o) return 1 end" },
          retention: { luaScript: retention.luaScript },
        },
      },
    });
  });
});
