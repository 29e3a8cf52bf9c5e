import { describe, expect, test } from "vitest";
import type { Cluster } from "@flotilla/karmada";
import type { Secret } from "@flotilla/kubernetes";
import { createFakeClock } from "@flotilla/base";
import { openConnection, planAddress } from "./connection.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const secretWith = (data: Record<string, string>): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "paris", namespace: "karmada-cluster" },
  data,
});
const SECRET = secretWith({ token: base64("s3cret"), caBundle: base64("PEM") });
const clusterWith = (spec: Partial<Cluster["spec"]>): Cluster => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name: "paris" },
  spec: {
    syncMode: "Push",
    apiEndpoint: "https://paris.example.com:6443",
    secretRef: { namespace: "karmada-cluster", name: "paris" },
    ...spec,
  },
});
const plan = (spec: Partial<Cluster["spec"]>, secret: Secret | undefined = SECRET): ReturnType<typeof planAddress> =>
  planAddress(clusterWith(spec), (namespace, name) =>
    `${namespace}/${name}` === "karmada-cluster/paris" ? secret : undefined,
  );

describe("the address of a Cluster", () => {
  test("is its endpoint, with the CA of its Secret", () => {
    expect(plan({ id: "uid" })).toEqual({
      address: { server: "https://paris.example.com:6443", id: "uid", insecure: false, ca: "PEM" },
    });
  });

  test("may use a proxy with extra headers", () => {
    expect(plan({ proxyURL: "http://proxy:3128", proxyHeader: { "X-Team": "a,b" } })).toMatchObject({
      address: { proxyUrl: "http://proxy:3128", proxyHeaders: { "X-Team": ["a", "b"] } },
    });
  });

  test("needs no CA when TLS verification is off", () => {
    expect(plan({ insecureSkipTLSVerification: true }, secretWith({ token: base64("s3cret") }))).toEqual({
      address: { server: "https://paris.example.com:6443", id: "", insecure: true },
    });
  });

  const problems: Record<string, { spec: Partial<Cluster["spec"]>; secret?: Secret; want: string }> = {
    "is unknown without an endpoint": { spec: { apiEndpoint: "" }, want: "the api endpoint of cluster paris is empty" },
    "is a problem when the Secret does not exist": {
      spec: { secretRef: { namespace: "elsewhere", name: "paris" } },
      want: "secret elsewhere/paris of cluster paris does not exist",
    },
    "is a problem without a token": {
      spec: {},
      secret: secretWith({ caBundle: base64("PEM") }),
      want: 'the secret for cluster paris is missing a non-empty value for "token"',
    },
    "is a problem without a CA": {
      spec: {},
      secret: secretWith({ token: base64("s3cret") }),
      want: 'the secret for cluster paris is missing the CA data key "caBundle"',
    },
  };
  for (const [behaviour, { spec, secret, want }] of Object.entries(problems)) {
    test(behaviour, () => {
      expect(plan(spec, secret)).toEqual({ problem: want });
    });
  }
});

test("a connection uses the CA and proxy of the address", async () => {
  const connection = await openConnection(
    "paris",
    {
      server: "https://paris.example.com:6443",
      id: "",
      insecure: false,
      ca: "PEM",
      proxyUrl: "http://proxy:3128",
      proxyHeaders: { "X-Team": ["a"] },
    },
    createFakeClock(),
  );

  expect(connection).toMatchObject({ ca: "PEM", proxyHeaders: { "X-Team": ["a"] } });
  expect(connection.server.href).toBe("https://paris.example.com:6443/");
  expect(connection.proxy?.href).toBe("http://proxy:3128/");
  expect(connection).not.toHaveProperty("credentials");
});
