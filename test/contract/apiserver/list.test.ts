/** Reads: get and list, resourceVersion semantics, pagination and selectors. */
import { expect, test } from "vitest";
import { defineResource } from "./custom-resource.ts";
import { makeConfigMap, makePod, pods } from "./objects.ts";
import { NAMESPACE, contract, eventually } from "../../programs/api-servers.ts";
import type { Body } from "../../programs/raw-client.ts";

const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;

contract("list", (subject) => {
  const create = async (name: string, labels: Record<string, string> = {}): Promise<Body> =>
    (await subject.api.create(CONFIG_MAPS, makeConfigMap(name, {}, { labels }))).body;
  const names = async (query: string): Promise<string[]> =>
    (await subject.api.get(`${CONFIG_MAPS}?${query}`)).body.items.map(({ metadata }) => metadata.name);

  test("resourceVersions are decimal numbers that increase across all kinds, and an empty list has one", async () => {
    const first = await create("grows-a");
    const { body: secret } = await subject.api.create(`/api/v1/namespaces/${NAMESPACE}/secrets`, {
      metadata: { name: "grows" },
    });
    const empty = await subject.api.get(`${CONFIG_MAPS}?labelSelector=there=none`);
    const second = await create("grows-b");

    const versions = [first, secret, empty.body, second].map(({ metadata }) => metadata.resourceVersion);
    expect(versions.every((version) => /^[1-9]\d*$/.test(version))).toBe(true);
    expect(empty.body.items).toEqual([]);
    expect(versions.map(Number)).toEqual(versions.map(Number).toSorted((a, b) => a - b));
    expect(new Set([versions[0], versions[1], versions[3]]).size).toBe(3);
  });

  const refused: Record<string, [query: string, status: number, message: RegExp]> = {
    "a resourceVersionMatch without a version": [
      "resourceVersionMatch=Exact",
      422,
      /resourceVersionMatch is forbidden unless resourceVersion is provided/,
    ],
    "a resourceVersionMatch together with a continue token": [
      "resourceVersionMatch=Exact&resourceVersion=1&continue=abc",
      422,
      /resourceVersionMatch is forbidden when continue is provided/,
    ],
    "resourceVersion 0 with match Exact": [
      "resourceVersionMatch=Exact&resourceVersion=0",
      422,
      /resourceVersionMatch "exact" is forbidden for resourceVersion "0"/i,
    ],
    "an unknown resourceVersionMatch": [
      "resourceVersionMatch=Nearly&resourceVersion=1",
      422,
      /supported values: "Exact", "NotOlderThan"/,
    ],
    sendInitialEvents: [
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0",
      422,
      /sendInitialEvents is forbidden for list/,
    ],
    "a resourceVersion that is not a number": ["resourceVersion=abc", 400, /Invalid value: "abc"/i],
    "a negative limit": ["limit=x", 400, /invalid syntax/],
  };
  for (const [what, [query, status, message]] of Object.entries(refused)) {
    test(`a list with ${what} is rejected with ${status}`, async () => {
      const answer = await subject.api.get(`${CONFIG_MAPS}?${query}`);

      expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
    });
  }

  test("a get with a resourceVersion that is not a number returns an internal error", async () => {
    await create("unparsable");

    expect((await subject.api.get(`${CONFIG_MAPS}/unparsable?resourceVersion=abc`)).status).toBe(500);
  });

  test("a resourceVersion from the future is waited for, and then rejected with 504", async () => {
    const version = Number((await create("future")).metadata.resourceVersion) + 1_000_000;

    const [list, get] = await Promise.all([
      subject.api.get(`${CONFIG_MAPS}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`),
      subject.api.get(`${CONFIG_MAPS}/future?resourceVersion=${version}`),
    ]);

    for (const { status, body } of [list, get]) {
      expect(status).toBe(504);
      expect(body).toMatchObject({
        reason: "Timeout",
        message: expect.stringContaining(`Too large resource version: ${version}`),
        details: {
          causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
          retryAfterSeconds: 1,
        },
      });
    }
  });

  test("pages are ordered by name, at one resourceVersion, with remainingItemCount", async () => {
    for (const name of ["page-c", "page-a", "page-e", "page-b", "page-d"])
      await subject.api.create(`/api/v1/namespaces/default/configmaps`, makeConfigMap(name, {}, { finalizers: [] }));
    const path = "/api/v1/namespaces/default/configmaps";
    const { items: all, metadata } = (await subject.api.get(path)).body;

    const first = (await subject.api.get(`${path}?limit=2`)).body;
    await subject.api.create(path, makeConfigMap("page-aa"));
    const second = (await subject.api.get(`${path}?limit=2&continue=${first.metadata.continue}`)).body;
    const last = (await subject.api.get(`${path}?limit=100&continue=${second.metadata.continue}`)).body;

    expect(first.metadata.remainingItemCount).toBe(all.length - 2);
    expect(second.metadata.remainingItemCount).toBe(all.length - 4);
    expect([...first.items, ...second.items, ...last.items].map((item) => item.metadata.name)).toEqual(
      all.map((item) => item.metadata.name),
    );
    expect(new Set([first, second, last].map((page) => page.metadata.resourceVersion))).toEqual(
      new Set([metadata.resourceVersion]),
    );
    expect(last.metadata.continue ?? "").toBe("");
    expect(last.metadata.remainingItemCount).toBeUndefined();
  });

  test("pages of a selection have no remainingItemCount", async () => {
    await create("selected-a", { paged: "yes" });
    await create("selected-b", { paged: "yes" });

    const { metadata, items } = (await subject.api.get(`${CONFIG_MAPS}?labelSelector=paged=yes&limit=1`)).body;

    expect(items).toHaveLength(1);
    expect(metadata.continue).toBeTruthy();
    expect(metadata.remainingItemCount).toBeUndefined();
  });

  test("a continue token with a resourceVersion, and an invalid token, are rejected with 400", async () => {
    await create("token-a");
    await create("token-b");
    const { metadata } = (await subject.api.get(`${CONFIG_MAPS}?limit=1`)).body;

    expect(
      (
        await subject.api.get(
          `${CONFIG_MAPS}?limit=1&continue=${metadata.continue}&resourceVersion=${metadata.resourceVersion}`,
        )
      ).status,
    ).toBe(400);
    expect((await subject.api.get(`${CONFIG_MAPS}?limit=1&continue=nonsense`)).status).toBe(400);
  });

  test("a list at an exact resourceVersion returns the state at that version", async () => {
    await create("exact-a", { exact: "yes" });
    const { resourceVersion } = (await create("exact-b", { exact: "yes" })).metadata;
    await create("exact-c", { exact: "yes" });
    await subject.api.delete(`${CONFIG_MAPS}/exact-a`);

    expect(
      await names(`labelSelector=exact=yes&resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`),
    ).toEqual(["exact-a", "exact-b"]);
    expect(
      await names(`labelSelector=exact=yes&resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan`),
    ).toEqual(["exact-b", "exact-c"]);
    expect(await names(`labelSelector=exact=yes&resourceVersion=0`)).toEqual(["exact-b", "exact-c"]);
  });

  const labelSelectors: Record<string, string[]> = {
    "tier=web": ["lab-a"],
    "tier==web": ["lab-a"],
    "tier!=web": ["lab-b", "lab-c"],
    "tier in (web,db)": ["lab-a", "lab-b"],
    "tier notin (web)": ["lab-b", "lab-c"],
    tier: ["lab-a", "lab-b"],
    "!tier": ["lab-c"],
    "tier,zone=north": ["lab-b"],
  };
  for (const [selector, want] of Object.entries(labelSelectors)) {
    test(`the label selector "${selector}" selects objects`, async () => {
      for (const [name, labels] of Object.entries<Record<string, string>>({
        "lab-a": { tier: "web" },
        "lab-b": { tier: "db", zone: "north" },
        "lab-c": { zone: "north" },
      }))
        await create(name, { ...labels, suite: "labels" });

      expect(await names(`labelSelector=${encodeURIComponent(`suite=labels,${selector}`)}`)).toEqual(want);
    });
  }

  test("an invalid selector is rejected with 400", async () => {
    for (const selector of ["a in (", "=x", "a=b=c", "-bad-"])
      expect((await subject.api.get(`${CONFIG_MAPS}?labelSelector=${encodeURIComponent(selector)}`)).status).toBe(400);
  });

  test("every kind is selectable by name and namespace", async () => {
    await create("by-name");

    expect(await names("fieldSelector=metadata.name=by-name")).toEqual(["by-name"]);
    expect(await names("fieldSelector=metadata.name=by-name,metadata.namespace!=contract")).toEqual([]);
    expect(
      (await subject.api.get(`/api/v1/configmaps?fieldSelector=metadata.name=by-name,metadata.namespace=${NAMESPACE}`))
        .body.items,
    ).toHaveLength(1);
  });

  test("pods are selectable by node, phase and restart policy", async () => {
    await subject.api.create(pods(NAMESPACE), makePod("placed", {}, { nodeName: "n1", restartPolicy: "Never" }));
    await subject.api.create(pods(NAMESPACE), makePod("unplaced"));
    const select = async (selector: string): Promise<string[]> =>
      (await subject.api.get(`${pods(NAMESPACE)}?fieldSelector=${encodeURIComponent(selector)}`)).body.items.map(
        ({ metadata }) => metadata.name,
      );

    expect(await select("spec.nodeName=n1")).toEqual(["placed"]);
    expect(await select("spec.nodeName=")).toEqual(["unplaced"]);
    expect(await select("spec.restartPolicy=Never,status.phase=Pending")).toEqual(["placed"]);
    expect(await select("status.phase!=Pending")).toEqual([]);
    expect(
      await select("spec.serviceAccountName=default,spec.schedulerName=default-scheduler,spec.hostNetwork=false"),
    ).toEqual(["placed", "unplaced"]);
  });

  const extras: Record<string, [path: string, selector: string]> = {
    Secret: ["/api/v1/secrets", "type=Opaque"],
    Namespace: ["/api/v1/namespaces", "status.phase=Active"],
    Node: ["/api/v1/nodes", "spec.unschedulable=true"],
    Event: [
      "/api/v1/events",
      "involvedObject.kind=Pod,involvedObject.name=x,reason=Started,type=Normal,source=kubelet,reportingComponent=kubelet",
    ],
    Job: ["/apis/batch/v1/jobs", "status.successful=1"],
    ReplicationController: ["/api/v1/replicationcontrollers", "status.replicas=1"],
    Service: ["/api/v1/services", "spec.clusterIP=None,spec.type=ClusterIP"],
  };
  for (const [kind, [path, selector]] of Object.entries(extras)) {
    test(`a ${kind} has its own selectable fields`, async () => {
      expect((await subject.api.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`)).status).toBe(200);
    });
  }

  test("other field selectors are rejected with the error of Kubernetes", async () => {
    const plain = await subject.api.get(`${CONFIG_MAPS}?fieldSelector=data.a=1`);
    const pod = await subject.api.get(`${pods(NAMESPACE)}?fieldSelector=spec.colour=blue`);

    expect([plain.status, plain.body.message]).toEqual([
      400,
      '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ]);
    expect([pod.status, pod.body.message]).toEqual([400, "field label not supported: spec.colour"]);
  });

  test("a read after a write returns the write", async () => {
    for (let round = 0; round < 20; round++) {
      await create(`seen-${round}`, { seen: "yes" });

      expect(await names("labelSelector=seen=yes")).toHaveLength(round + 1);
    }
  });

  test("custom resources are selectable by the selectableFields of their CRD", async () => {
    const schema = {
      type: "object",
      properties: { spec: { type: "object", properties: { colour: { type: "string" } } } },
    };
    const path = await defineResource(subject.api, "Crayon", {
      namespace: NAMESPACE,
      schema,
      selectableFields: [{ jsonPath: ".spec.colour" }],
    });
    for (const colour of ["red", "blue"])
      await subject.api.create(path, {
        apiVersion: "crayon.example.com/v1",
        kind: "Crayon",
        metadata: { name: colour },
        spec: { colour },
      });

    const list = await eventually(
      "the list",
      () => subject.api.get(`${path}?fieldSelector=spec.colour=blue`),
      ({ status }) => status === 200,
    );
    const other = await subject.api.get(`${path}?fieldSelector=spec.shape=round`);

    expect(list.body.items.map(({ metadata }) => metadata.name)).toEqual(["blue"]);
    expect(other.status).toBe(400);
  });
});
