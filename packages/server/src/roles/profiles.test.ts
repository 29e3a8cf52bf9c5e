import { expect, test } from "vitest";
import type { ConnectRequest } from "@flotilla/apimachinery";
import { createProfiles } from "./profiles.ts";

const profiles = createProfiles({
  rootCertificate: "",
  startedOn: "x",
  clusterKubeconfig: (cluster) => Promise.resolve(`kubeconfig of ${cluster}`),
});
const kubeconfig = profiles.hub.builtIns.find(({ kind }) => kind === "LogicalCluster")?.subresources.connect?.[
  "kubeconfig"
];
const ask = async (request: Partial<ConnectRequest>): Promise<string> => {
  const response = await kubeconfig?.(
    {
      cluster: "hub",
      name: "rome",
      method: "GET",
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

test("the hub serves the kubeconfig of a cluster", async () => {
  expect(await ask({})).toBe("kubeconfig of rome");
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
