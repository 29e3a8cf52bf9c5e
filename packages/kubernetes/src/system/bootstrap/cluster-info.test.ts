import { expect, test } from "vitest";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { ConfigMap } from "../../configmap/configmap-kind.ts";
import { planSignatures, publishClusterInfo } from "./cluster-info.ts";

const TOKEN = { id: "abcdef", secret: "0123456789abcdef" };

test("every token signs cluster-info in the format that kubeadm verifies", () => {
  // {"alg":"HS256","kid":"abcdef"}, in this order: clients compare the whole text with one that they compute
  // themselves.
  const header = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9";

  const data = planSignatures({ kubeconfig: "hello", other: "x" }, [TOKEN]);

  expect(data).toEqual({
    kubeconfig: "hello",
    other: "x",
    "jws-kubeconfig-abcdef": expect.stringMatching(new RegExp(`^${header}\\.\\.[A-Za-z0-9_-]{43}$`)) as string,
  });
});

test("nothing is written when all signatures are right", () => {
  const data = planSignatures({ kubeconfig: "hello" }, [TOKEN]) ?? {};

  expect(planSignatures(data, [TOKEN])).toBeUndefined();
});

test("removes signatures of deleted tokens and replaces wrong ones", () => {
  const right = planSignatures({ kubeconfig: "hello" }, [TOKEN]) ?? {};

  expect(planSignatures(right, [])).toEqual({ kubeconfig: "hello" });
  expect(planSignatures({ ...right, "jws-kubeconfig-abcdef": "forged" }, [TOKEN])).toEqual(right);
  expect(planSignatures({ ...right, kubeconfig: "changed" }, [TOKEN])?.["jws-kubeconfig-abcdef"]).not.toBe(
    right["jws-kubeconfig-abcdef"],
  );
});

test("without a kubeconfig there is nothing to sign", () => {
  expect(planSignatures({ other: "x" }, [TOKEN])).toBeUndefined();
});

test("API servers that start at the same time all publish cluster-info, and one of them wins", async () => {
  const client = createFakeClient();
  const { signal } = new AbortController();
  const servers = ["https://127.0.0.1:1", "https://127.0.0.1:2", "https://127.0.0.1:3"];

  await Promise.all(servers.map((server) => publishClusterInfo(client, "hub", { server, ca: "" }, signal)));

  const { data } = await client.get(ConfigMap, { cluster: "hub", namespace: "kube-public", name: "cluster-info" });
  expect(servers.filter((server) => data?.["kubeconfig"]?.includes(`server: ${server}\n`))).toHaveLength(1);
});
