import { expect, test } from "vitest";
import { credentialsIn, filesOf } from "./credential-store.ts";

const credentials = {
  address: { name: "hub", server: "https://hub.example.com", ca: "CA", proxyUrl: "http://proxy:3128" },
  cluster: "paris",
  agent: "a",
  cert: "CERT",
  key: "KEY",
};

test("credentials are kept under the names that other agents know, and read back as they were", () => {
  const files = filesOf(credentials);

  expect(Object.keys(files)).toEqual(["kubeconfig", "tls.crt", "tls.key", "cluster-name", "agent-name"]);
  expect(credentialsIn((name) => files[name])).toEqual(credentials);
});

test("files that are missing or broken are no credentials", () => {
  const files = filesOf(credentials);

  expect(credentialsIn((name) => (name === "tls.key" ? undefined : files[name]))).toBeUndefined();
  expect(credentialsIn((name) => (name === "kubeconfig" ? ": {" : files[name]))).toBeUndefined();
});
