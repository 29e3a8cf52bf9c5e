import { expect, test } from "vitest";
import { credentialsIn, filesOf } from "./credential-store.ts";

const credentials = {
  address: {
    name: "hub",
    server: "https://hub.example.com",
    ca: "CA",
    proxyUrl: "http://proxy:3128",
    others: ["https://hub2.example.com"],
  },
  cluster: "paris",
  agent: "a",
  cert: "CERT",
  key: "KEY",
};

test("stores credentials under the file names that OCM agents use, and reads them back unchanged", () => {
  const files = filesOf(credentials);

  expect(Object.keys(files)).toEqual(["kubeconfig", "tls.crt", "tls.key", "cluster-name", "agent-name"]);
  expect(credentialsIn((name) => files[name])).toEqual(credentials);
});

test("treats missing or broken files as no credentials", () => {
  const files = filesOf(credentials);

  expect(credentialsIn((name) => (name === "tls.key" ? undefined : files[name]))).toBeUndefined();
  expect(credentialsIn((name) => (name === "kubeconfig" ? ": {" : files[name]))).toBeUndefined();
});
