import { HUB, pathNotFound, unavailable } from "@flotilla/apimachinery";
import { createFakeClock } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { Transport, TransportRequest } from "@flotilla/client";
import { expect, test } from "vitest";
import { directClusters, shownText, storedText, storedUrl, withReadableClusters } from "./stored-clusters.ts";
import { planCertificates } from "./webhook-certificates.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const HOSTS = ["flotilla-webhooks.flotilla-system.svc"];

test("a certificate is kept until two months before its end, and its successor has the same authority", async () => {
  const clock = createFakeClock();
  const first = await planCertificates(undefined, HOSTS, clock);

  clock.advance(300 * DAY_MS);
  const kept = await planCertificates(first, HOSTS, clock);
  clock.advance(10 * DAY_MS);
  const renewed = await planCertificates(first, HOSTS, clock);

  expect(kept).toBe(first);
  expect(renewed.certificate).not.toBe(first.certificate);
  expect(renewed.authority).toEqual(first.authority);
});

test("an authority that ends soon has a successor, and stays trusted beside it", async () => {
  const clock = createFakeClock();
  const first = await planCertificates(undefined, HOSTS, clock);

  clock.advance(3_300 * DAY_MS);
  const replaced = await planCertificates(first, HOSTS, clock);

  expect(replaced.authority.certificate).not.toBe(first.authority.certificate);
  expect(replaced.former).toBe(first.authority.certificate);
});

test("a certificate for other names is replaced at once", async () => {
  const clock = createFakeClock();
  const first = await planCertificates(undefined, HOSTS, clock);

  expect(await planCertificates(first, [...HOSTS, "hub.example.com"], clock)).not.toBe(first);
});

/** An API server that answers every request with a Cluster in the version that was asked for. */
function server(status: number): { requests: TransportRequest[]; transport: Transport } {
  const requests: TransportRequest[] = [];
  const answer = ({ path }: Pick<TransportRequest, "path">): JsonObject => ({
    apiVersion: `${path.group}/${path.version}`,
    kind: "Cluster",
  });
  return {
    requests,
    transport: {
      send(request) {
        requests.push(request);
        return Promise.resolve(
          request.verb === "list"
            ? { apiVersion: "v1", kind: "ClusterList", items: [answer(request)] }
            : answer(request),
        );
      },
      async *watch(request) {
        yield [{ type: "ADDED", object: answer(request) }];
      },
      raw: () => Promise.resolve({ status, headers: {}, body: nothing() }),
      close: () => Promise.resolve(),
    },
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("{}");
}

const CLUSTERS = { cluster: HUB, group: "cluster.karmada.io", version: "v1alpha1", resource: "clusters" };

test("our programs read and write Clusters in the version that the API server serves itself", async () => {
  const { requests, transport } = server(200);
  const signal = new AbortController().signal;
  const direct = await directClusters(transport, signal);

  const list = await direct.send({ verb: "list", path: CLUSTERS });
  const body = { apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster" };
  await direct.send({ verb: "update", path: { ...CLUSTERS, name: "a", subresource: "status" }, body });
  await direct.send({ verb: "get", path: { ...CLUSTERS, name: "a", subresource: "proxy" } });
  const events = [];
  for await (const batch of direct.watch({ path: CLUSTERS }, signal)) events.push(...batch);

  expect(list["items"]).toEqual([{ apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster" }]);
  expect(
    requests.map(({ path, body: sent }) => [path.version, (sent as JsonObject | undefined)?.["apiVersion"]]),
  ).toEqual([
    ["stored", undefined],
    ["stored", "cluster.karmada.io/stored"],
    ["v1alpha1", undefined],
  ]);
  expect(events.map(({ object }) => object["apiVersion"])).toEqual(["cluster.karmada.io/v1alpha1"]);
});

test("an API server without that version is used as it is", async () => {
  const { transport } = server(404);

  expect(await directClusters(transport, new AbortController().signal)).toBe(transport);
});

test("commands read Clusters from the API server itself while the process that serves them does not answer", async () => {
  const { requests, transport } = server(200);
  const broken = withReadableClusters({
    ...transport,
    send: (request) =>
      request.path.version === "v1alpha1" ? Promise.reject(unavailable("connection refused")) : transport.send(request),
  });

  const list = await broken.send({ verb: "list", path: CLUSTERS });
  const write = broken.send({ verb: "delete", path: { ...CLUSTERS, name: "a" } });

  expect(list["items"]).toEqual([{ apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster" }]);
  await expect(write).rejects.toThrow("connection refused");
  expect(requests.map(({ verb, path }) => [verb, path.version])).toEqual([["list", "stored"]]);
});

test("where no other version is served, commands report why Clusters are not", async () => {
  const { transport } = server(404);
  const broken = withReadableClusters({
    ...transport,
    send: ({ path }) => Promise.reject(path.version === "v1alpha1" ? unavailable("starting") : pathNotFound()),
  });

  await expect(broken.send({ verb: "list", path: CLUSTERS })).rejects.toThrow("starting");
});

test("a forwarded text has the other version wherever it names one, and nothing else changes", () => {
  const text = '{"apiVersion":"cluster.karmada.io/v1alpha1","note":"cluster.karmada.io/v1alpha1 is new"}';

  expect(shownText(storedText(text))).toBe(text);
  expect(storedText(text)).toContain('"note":"cluster.karmada.io/v1alpha1 is new"');
  expect(storedUrl("/apis/cluster.karmada.io/v1alpha1/clusters/a")).toBe("/apis/cluster.karmada.io/stored/clusters/a");
});
