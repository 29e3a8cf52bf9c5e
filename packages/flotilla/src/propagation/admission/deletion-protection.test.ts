import { describe, expect, test } from "vitest";
import { kubernetesAdmissions } from "@flotilla/kubernetes";
import { createTestServer, makeConfigMap, MERGE, PROFILE } from "@flotilla/testing/api-server.ts";
import { createDeletionProtection } from "./deletion-protection.ts";

const admissions = [...kubernetesAdmissions, createDeletionProtection("hub")];
const LABEL = "resourcetemplate.karmada.io/deletion-protected";
const PATH = "/api/v1/namespaces/default/configmaps";
const protectedMap = (value = "Always"): object => makeConfigMap("a", { metadata: { labels: { [LABEL]: value } } });

describe("a protected object of the hub", () => {
  const REFUSAL =
    `admission webhook "resourcedeletionprotection.karmada.io" denied the request: This resource is protected, ` +
    `please make sure to remove the label: ${LABEL}`;

  test("is not deleted, alone or in a collection, until the label is removed", async () => {
    const { request, server } = await createTestServer({ admissions });
    await request("POST", PATH, protectedMap());

    const alone = await request("DELETE", `${PATH}/a`);
    const withOthers = await request("DELETE", PATH);
    await request("PATCH", `${PATH}/a`, { metadata: { labels: { [LABEL]: null } } }, MERGE);
    const freed = await request("DELETE", `${PATH}/a`);

    expect(alone.body).toMatchObject({ code: 403, reason: "Forbidden", message: REFUSAL });
    expect(withOthers.body).toMatchObject({ code: 403, message: REFUSAL });
    expect(freed.status).toBe(200);
    await server.close();
  });

  test("is protected only by one value of the label", async () => {
    const { request, server } = await createTestServer({ admissions });
    await request("POST", PATH, protectedMap("Sometimes"));

    const deleted = await request("DELETE", `${PATH}/a`);

    expect(deleted.status).toBe(200);
    await server.close();
  });
});

test("a protected object is not protected in its copy on a member", async () => {
  const { request, server } = await createTestServer({
    admissions,
    profiles: { hub: PROFILE, member: PROFILE },
    clusters: { hub: "hub", m1: "member" },
  });
  await request("POST", `/clusters/m1${PATH}`, protectedMap());

  const deleted = await request("DELETE", `/clusters/m1${PATH}/a`);

  expect(deleted.status).toBe(200);
  await server.close();
});
