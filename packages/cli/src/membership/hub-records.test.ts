import { expect, test } from "vitest";
import { Cluster } from "@flotilla/karmada";
import { createFakeClock } from "@flotilla/base";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { checkUnknown } from "./hub-records.ts";
import type { JoiningCluster } from "./hub-records.ts";

const HUB = "https://127.0.0.1:6443";
const known: Record<string, Cluster["spec"]> = {
  member1: { syncMode: "Push", id: "member1", apiEndpoint: `${HUB}/clusters/member1` },
  member2: { syncMode: "Pull", id: "member2", apiEndpoint: `${HUB}/clusters/member2` },
  paris: { syncMode: "Push", id: "uid-paris", apiEndpoint: "https://paris.example.com:6443" },
  rome: {
    syncMode: "Push",
    id: "uid-rome",
    apiEndpoint: "https://10.0.0.1:6443",
    proxyURL: "http://rome.example.com:3128",
  },
  oslo: { syncMode: "Pull", id: "uid-oslo", apiEndpoint: "https://10.96.0.1:443" },
};

const cases: Record<string, { newcomer: JoiningCluster; refused?: string }> = {
  "an unknown cluster may join": {
    newcomer: { name: "bern", id: "uid-bern", apiEndpoint: "https://bern.example.com:6443" },
  },
  "a joined cluster may join again, which renews its credentials": {
    newcomer: { name: "paris", id: "uid-paris", apiEndpoint: "https://paris.example.com:6443" },
  },
  "a joined cluster may have a new address": {
    newcomer: { name: "paris", id: "uid-paris", apiEndpoint: "https://paris.example.net:6443" },
  },
  "a joined cluster may not join under a second name": {
    newcomer: { name: "lyon", id: "uid-paris", apiEndpoint: "https://paris.example.net:6443" },
    refused: "this cluster has joined as paris already; unjoin it first",
  },
  "two members may not share an address": {
    newcomer: { name: "lyon", id: "uid-lyon", apiEndpoint: "https://paris.example.com:6443/" },
    refused: "this cluster has joined as paris already; unjoin it first",
  },
  "a name may not be used twice": {
    newcomer: { name: "paris", id: "uid-bern", apiEndpoint: "https://bern.example.com:6443" },
    refused: "another cluster has joined as paris; choose another name, or unjoin it first",
  },
  "the same address behind another proxy is another cluster": {
    newcomer: {
      name: "bern",
      id: "uid-bern",
      apiEndpoint: "https://10.0.0.1:6443",
      proxyUrl: "http://bern.example.com:3128",
    },
  },
  "the address of a pull-mode cluster is not compared with others": {
    newcomer: { name: "bern", id: "uid-bern", apiEndpoint: "https://10.96.0.1:443" },
  },
  "a simulated member may not join a second time": {
    newcomer: { name: "x", id: "uid-of-its-namespace", apiEndpoint: `${HUB}/clusters/member1` },
    refused: "this cluster has joined as member1 already; a simulated member of the hub cannot join it again",
  },
  "a pull-mode member may not join a second time": {
    newcomer: { name: "x", id: "uid-of-its-namespace", apiEndpoint: `${HUB}/clusters/member2` },
    refused: "this cluster has joined as member2 already; a simulated member of the hub cannot join it again",
  },
  "a simulated member that joins under its own name has nothing to do": {
    newcomer: { name: "member1", id: "uid-of-its-namespace", apiEndpoint: `${HUB}/clusters/member1` },
    refused: "member1 is a simulated member of this hub and has already joined; nothing to do",
  },
};
for (const [behaviour, { newcomer, refused }] of Object.entries(cases)) {
  test(behaviour, async () => {
    const client = createFakeClient({ clock: createFakeClock(0) });
    for (const [name, spec] of Object.entries(known))
      await client.create(Cluster, "hub", {
        apiVersion: "cluster.karmada.io/v1alpha1",
        kind: "Cluster",
        metadata: { name },
        spec,
      });

    const answer = await checkUnknown(client, newcomer, new AbortController().signal).then(
      () => undefined,
      (error: Error) => error.message,
    );

    expect(answer).toBe(refused);
  });
}
