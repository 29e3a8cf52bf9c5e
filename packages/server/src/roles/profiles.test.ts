import { expect, test } from "vitest";
import type { ConnectRequest } from "@flotilla/apimachinery";
import { createProfiles } from "./profiles.ts";

const profiles = createProfiles({
  rootCertificate: "",
  startedOn: "x",
  clusterKubeconfig: (cluster, lifetimeMs) => `kubeconfig of ${cluster} for ${lifetimeMs / 60_000} minutes`,
});
const kubeconfig = profiles.hub.builtIns.find(({ kind }) => kind === "LogicalCluster")?.subresources.connect?.[
  "kubeconfig"
];
const ask = async (request: Partial<ConnectRequest>): Promise<string> => {
  const response = await kubeconfig?.(
    {
      cluster: "hub",
      name: "rome",
      method: "POST",
      path: "",
      rawPath: "",
      query: new URLSearchParams(),
      headers: {},
      user: { name: "admin", groups: [] },
      ...request,
    },
    new AbortController().signal,
  );
  return Buffer.from(response?.body as Uint8Array).toString();
};

test("the hub issues kubeconfigs of a cluster, which expire", async () => {
  expect(await ask({})).toBe("kubeconfig of rome for 60 minutes");
  expect(await ask({ query: new URLSearchParams("expirationSeconds=900") })).toBe("kubeconfig of rome for 15 minutes");
});

test("a kubeconfig cannot be read, so roles that only read get none", async () => {
  await expect(ask({ method: "GET" })).rejects.toMatchObject({ status: { code: 405 } });
});

test("the hub issues no kubeconfig for itself", async () => {
  await expect(ask({ name: "hub" })).rejects.toMatchObject({ status: { code: 400 } });
});

test("a kubeconfig is valid for minutes to a day", async () => {
  for (const seconds of ["0", "599", "86401", "soon", "1e9", ""])
    await expect(ask({ query: new URLSearchParams({ expirationSeconds: seconds }) })).rejects.toMatchObject({
      status: { code: 400 },
    });
});

test("no other cluster serves kubeconfigs, not even its own", async () => {
  await expect(ask({ cluster: "rome" })).rejects.toMatchObject({ status: { code: 404 } });
  await expect(ask({ cluster: "rome", name: "hub" })).rejects.toMatchObject({ status: { code: 404 } });
});

test("only the hub serves logical clusters", () => {
  const serving = Object.entries(profiles).filter(([, { builtIns }]) =>
    builtIns.some(({ kind }) => kind === "LogicalCluster"),
  );

  expect(serving.map(([name]) => name)).toEqual(["hub"]);
});

test("the Service of the API server has the port on which the server listens", () => {
  const { empty } = createProfiles({ rootCertificate: "", startedOn: "2024-05-01", port: () => 7443 });
  const fields = (empty.clusterObjects ?? []).map(({ object, fieldsOf }) => [
    object.kind,
    JSON.stringify(fieldsOf({ name: "rome", createdAt: "2024-05-01T00:00:00Z", revision: 1 })),
  ]);

  expect(fields).toEqual([
    ["Service", expect.stringContaining('"port":443,"targetPort":7443')],
    ["Endpoints", expect.stringContaining('"port":7443')],
    ["EndpointSlice", expect.stringContaining('"port":7443')],
  ]);
});
