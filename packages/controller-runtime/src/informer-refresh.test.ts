import { dynamicKind } from "@flotilla/apimachinery";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { afterEach, expect, test } from "vitest";
import { createInformers } from "./informers.ts";
import type { SharedInformers } from "./informers.ts";

const clock = createFakeClock();
const never = new AbortController().signal;
const ConfigMap = dynamicKind({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced",
});
const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "shop", name } }) as const;

let informers: SharedInformers;
afterEach(() => informers.close());

function makeInformers(client: Client): SharedInformers {
  informers = createInformers({
    client,
    clock,
    random: createSeededRandom(1),
    log: silentLog,
    scope: { cluster: "hub" },
  });
  return informers;
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => void setImmediate(resolve));
}

test("a refresh shows what a watch that is stuck does not deliver", async () => {
  const server = createFakeClient({ clock });
  let isStuck = false;
  const client: Client = {
    ...server,
    async *watch(kind, options) {
      const stuck = isStuck;
      for await (const batch of server.watch(kind, options)) {
        if (isStuck && !stuck)
          await new Promise((_, reject) => options.signal.addEventListener("abort", reject, { once: true }));
        yield batch;
      }
    },
  };
  const maps = makeInformers(client).of(ConfigMap);
  const seen: string[] = [];
  maps.subscribe(({ object, deleted }) => void seen.push(`${deleted ? "-" : "+"}${object.metadata.name}`));
  await server.create(ConfigMap, "hub", map("kept"));
  await server.create(ConfigMap, "hub", map("removed"));
  await maps.whenSynced(never);
  await turns();

  isStuck = true;
  await server.delete(ConfigMap, { cluster: "hub", namespace: "shop", name: "removed" });
  await server.create(ConfigMap, "hub", map("new"));
  await turns();
  const before = maps.list().map(({ metadata }) => metadata.name);
  await informers.refresh(never);

  expect(before).toEqual(["kept", "removed"]);
  expect(
    maps
      .list()
      .map(({ metadata }) => metadata.name)
      .toSorted(),
  ).toEqual(["kept", "new"]);
  expect(seen).toEqual(["+kept", "+removed", "+new", "-removed"]);
});

test("a refresh does not wait for the pause after a failure, and ends when it is not needed any more", async () => {
  const server = createFakeClient({ clock });
  const maps = makeInformers(server).of(ConfigMap);
  await maps.whenSynced(never);
  server.disconnect({ down: true });
  await turns();
  const stop = new AbortController();
  const given = informers.refresh(stop.signal);
  stop.abort(new UnreachableError("not needed"));
  await expect(given).rejects.toThrow("not needed");
  server.up();

  await informers.refresh(never); // The clock stands still.

  expect(maps.list()).toEqual([]);
});
