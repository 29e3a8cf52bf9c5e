import { describe, expect, test } from "vitest";
import { UsageError } from "@flotilla/base";
import { createOutput } from "../output.ts";
import { runGet } from "./run-get.ts";
import type { GetOptions } from "./run-get.ts";
import { bytesOf, createTestHub, podTable } from "./test-hub.ts";

const PODS = "/api/v1/namespaces/shop/pods";
const LIST = `${PODS}?limit=500`;

const everywhere = (...args: string[]): GetOptions => ({
  args,
  clusters: [],
  hub: false,
  watch: false,
  showEvents: false,
  showLabels: false,
  noHeaders: false,
  ignoreNotFound: false,
  format: "table",
});
const options = (...args: string[]): GetOptions => ({ ...everywhere(...args), namespace: "shop" });

test("objects of all members are in one table, by cluster", async () => {
  const hub = createTestHub({ member10: { [LIST]: podTable(["c"]) }, member2: { [LIST]: podTable(["a", "b"]) } });

  const code = await runGet(options("pods"), hub);

  expect(code).toBe(0);
  expect(hub.said.out).toBe(
    "CLUSTER    NAME   STATUS\nmember2    a      Running\nmember2    b      Running\nmember10   c      Running\n",
  );
});

test("a member that does not respond is reported with the reason, and the others are shown", async () => {
  const hub = createTestHub({ member1: { [LIST]: podTable(["a"]) }, member2: { "/api": new Error("no route") } });

  const code = await runGet(options("pods"), hub);

  expect([code, hub.said.out, hub.said.err]).toEqual([
    1,
    "CLUSTER   NAME   STATUS\nmember1   a      Running\n",
    "member2: no route; run 'flotilla doctor --clusters member2' for details\n",
  ]);
});

const widths: Record<string, { width?: number; format: string; want: string }> = {
  "a narrow terminal shows the most important columns, and reports the hidden ones": {
    width: 18,
    format: "table",
    want: "CLUSTER   NAME\nmember1   a\n1 column is hidden; -o wide shows all\n",
  },
  "a wide terminal shows all columns": {
    width: 80,
    format: "table",
    want: "CLUSTER   NAME   STATUS\nmember1   a      Running\n",
  },
  "-o wide on a narrow terminal shows all columns": {
    width: 18,
    format: "wide",
    want: "CLUSTER NAME STATUS  NODE\nmember1 a    Running node-1\n",
  },
  "without a terminal all columns are shown": {
    format: "table",
    want: "CLUSTER   NAME   STATUS\nmember1   a      Running\n",
  },
};
for (const [behaviour, { width, format, want }] of Object.entries(widths)) {
  test(behaviour, async () => {
    const hub = createTestHub({ member1: { [LIST]: podTable(["a"]) } });
    const output = createOutput({
      format: "table",
      width,
      write: (text) => void (hub.said.out += text),
      warn: () => {},
      showProgress: () => {},
    });

    await runGet({ ...options("pods"), format }, { ...hub, output });

    expect(hub.said.out).toBe(want);
  });
}

test("lists are read page by page", async () => {
  const hub = createTestHub({
    member1: { [LIST]: podTable(["a"], { continue: "x" }), [`${LIST}&continue=x`]: podTable(["b"]) },
  });

  await runGet({ ...options("pods"), noHeaders: true, format: "wide" }, hub);

  expect(hub.said.out).toBe("member1   a   Running   node-1\nmember1   b   Running   node-1\n");
});

test("selectors are passed to the members", async () => {
  const hub = createTestHub({ member1: {} });

  await runGet({ ...options("pods"), labelSelector: "app=web", fieldSelector: "status.phase=Running" }, hub);

  expect(hub.asked).toContain(`member1 ${LIST}&labelSelector=app%3Dweb&fieldSelector=status.phase%3DRunning`);
});

test("an empty result is reported, and is not a failure", async () => {
  const hub = createTestHub({ member1: { [LIST]: podTable([]) } });

  expect([await runGet(options("pods"), hub), hub.said.out, hub.said.err]).toEqual([
    0,
    "",
    "No resources found in shop namespace.\n",
  ]);
});

test("a missing name is a failure, except with --ignore-not-found", async () => {
  const hub = createTestHub({ member1: {}, member2: {} });

  expect(await runGet(options("pod", "x"), hub)).toBe(1);
  expect(hub.said.err).toBe("pod x in namespace shop not found on member1, member2\n");
  expect(await runGet({ ...options("pod", "x"), ignoreNotFound: true }, hub)).toBe(0);
});

describe("objects as data", () => {
  const list = { kind: "PodList", metadata: { resourceVersion: "5" }, items: [{ metadata: { name: "a" } }] };

  test("are annotated with their cluster", async () => {
    const hub = createTestHub({ member1: { [LIST]: list }, member2: { [LIST]: list } });

    await runGet(
      {
        ...options("pods"),
        format:
          "jsonpath={range .items[*]}{.kind} {.metadata.annotations.resource\\.karmada\\.io/cached-from-cluster}{'\\n'}{end}",
      },
      hub,
    );

    expect(hub.said.out).toBe("Pod member1\nPod member2\n");
  });

  test("print the object itself for one name on one named member", async () => {
    const hub = createTestHub({ member1: { [`${PODS}/a`]: { kind: "Pod", metadata: { name: "a" } } } });

    await runGet({ ...options("pod/a"), clusters: ["member1"], format: "jsonpath={.metadata.name}" }, hub);

    expect(hub.said.out).toBe("a");
  });

  test("are named in two words, and shown in custom columns", async () => {
    const hub = createTestHub({ member1: { [LIST]: list } });

    await runGet({ ...options("pods"), format: "name" }, hub);
    await runGet({ ...options("pods"), format: "custom-columns=POD:.metadata.name" }, hub);

    expect(hub.said.out).toBe("member1 pod/a\nCLUSTER   POD\nmember1   a\n");
  });
});

test("members that serve the same types are discovered once", async () => {
  const hub = createTestHub({ member1: { [LIST]: podTable(["a"]) }, member2: { [LIST]: podTable(["b"]) } });
  const serves = [{ groupVersion: "v1", resources: [{ name: "pods", kind: "Pod" }] }];
  const clusters = (await hub.client.list(undefined as never, undefined as never)).items.map((cluster) => ({
    ...cluster,
    status: { apiEnablements: serves },
  }));
  const client = {
    ...hub.client,
    list: () => Promise.resolve({ items: clusters, resourceVersion: "1" }),
  } as unknown as typeof hub.client;

  await runGet(options("pods"), { ...hub, client, asking: { ...hub.asking, client } });

  expect(hub.asked.filter((line) => line.endsWith(" /api"))).toHaveLength(1);
  expect(hub.said.out).toContain("member2   b");
});

const wrong: Record<string, { options: GetOptions; want: string }> = {
  "a name in all namespaces": {
    options: everywhere("pod", "a"),
    want: "a resource cannot be retrieved by name across all namespaces",
  },
  "names and a selector": {
    options: { ...options("pod", "a"), labelSelector: "x=y" },
    want: "specify either names or a selector",
  },
  "an invalid selector": {
    options: { ...options("pods"), labelSelector: "a==b=c" },
    want: "-l 'a==b=c' is not a valid selector: ",
  },
  "an invalid field selector": {
    options: { ...options("pods"), fieldSelector: "phase" },
    want: "--field-selector 'phase' is not a valid selector: ",
  },
  "a watch of two types": { options: { ...options("pods,nodes"), watch: true }, want: "--watch supports one type" },
  "an unknown member": {
    options: { ...options("pods"), clusters: ["membr1"] },
    want: "member 'membr1' not found (did you mean 'member1'?)",
  },
  "an unknown type": {
    options: options("podz"),
    want: "member1 does not serve the resource type 'podz' (did you mean 'pods'?)",
  },
};
for (const [behaviour, { options: given, want }] of Object.entries(wrong)) {
  test(`${behaviour} is a usage error`, async () => {
    const error = await runGet(given, createTestHub({ member1: {} })).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toContain(want);
  });
}

test("a watch shows the objects and their changes, and reports when a member is lost and when it is back", async () => {
  const stop = new AbortController();
  const event = (type: string, name: string, version: string): string =>
    `${JSON.stringify({ type, object: podTable([name], { resourceVersion: version }) })}\n`;
  const watchPath = (version: string): string =>
    `${PODS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=60&resourceVersion=${version}`;
  let tries = 0;
  const hub = createTestHub(
    {
      member1: {
        [LIST]: podTable(["a"]),
        [watchPath("5")]: () => bytesOf(event("ADDED", "b", "6"), event("BOOKMARK", "", "7")),
        [watchPath("7")]: () => {
          if (++tries === 1) return new Error("no route");
          if (tries === 2) return bytesOf(event("DELETED", "a", "8"));
          stop.abort();
          return new Error("stopped");
        },
        [watchPath("8")]: () => {
          stop.abort();
          return new Error("stopped");
        },
      },
    },
    stop.signal,
  );
  const { clock } = hub.asking;
  // Timers fire at once, except the one that ends an idle watch.
  const impatient = {
    ...clock,
    after: (delayMs: number, run: () => void) => (delayMs <= 2_000 && queueMicrotask(run), { cancel: () => {} }),
  };

  const code = await runGet(
    { ...options("pods"), watch: true, showEvents: true },
    { ...hub, asking: { ...hub.asking, clock: impatient } },
  );

  expect(code).toBe(0);
  expect(hub.said.out).toBe(
    "EVENT      CLUSTER   NAME   STATUS\nADDED      member1   a      Running\nADDED      member1   b      Running\nDELETED    member1   a      Running\n",
  );
  expect(hub.said.err).toBe("member1: lost: no route; retrying until it responds\nmember1: back\n");
});
