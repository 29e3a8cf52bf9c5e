import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createMemoryEngine } from "@flotilla/apiserver";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { KeyStep } from "@flotilla/cli";
import { createHubKeys, KEY_FILES, openHubKeys } from "./hub-keys.ts";
import type { Fingerprints, HubKeys } from "./hub-keys.ts";
import { compareKeys, readKeyRecord, recordKeys } from "./key-record.ts";
import { planStep, rotateKeys } from "./rotate-keys.ts";

const clock = createFakeClock();
const deps = { clock, log: silentLog };

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "flotilla-keys-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
const open = (directory: string): Promise<HubKeys> => openHubKeys({ directory, mayWrite: false, ...deps });

const uses = (signs: string, ...accepts: string[]): Fingerprints => ({ ca: { signs, accepts: [signs, ...accepts] } });
/** What one server signs with and also accepts, and what is recorded of the others. */
const comparisons: Record<string, { own: Fingerprints; recorded: Fingerprints; want: string[] }> = {
  "the same keys fit": { own: uses("a"), recorded: uses("a"), want: [] },
  "a server with a prepared key fits those without it": { own: uses("a", "b"), recorded: uses("a"), want: [] },
  "an activated key fits servers that have it prepared": { own: uses("b", "a"), recorded: uses("a", "b"), want: [] },
  "a server that has the key prepared fits those that have it activated": {
    own: uses("a", "b"),
    recorded: uses("b", "a"),
    want: [],
  },
  "a retired key fits servers that have it activated": { own: uses("b"), recorded: uses("b", "a"), want: [] },
  "keys of another hub do not fit": { own: uses("x"), recorded: uses("a"), want: ["unknown"] },
  "an activated key that no server has prepared does not fit": {
    own: uses("b", "a"),
    recorded: uses("a"),
    want: ["unknown"],
  },
  "keys from before the preparation do not fit an activated key": {
    own: uses("a"),
    recorded: uses("b", "a"),
    want: ["missing"],
  },
  "keys from before the retirement do not fit": { own: uses("a", "b"), recorded: uses("b"), want: ["unknown"] },
};
for (const [behaviour, { own, recorded, want }] of Object.entries(comparisons))
  test(behaviour, () => expect(compareKeys(own, recorded).map(({ problem }) => problem)).toEqual(want));

const steps: Record<string, { step: KeyStep; keys: string[]; want: string[] }> = {
  "prepare adds a key that does not sign": { step: "prepare", keys: ["a"], want: ["a", "b"] },
  "activate makes the second key sign": { step: "activate", keys: ["a", "b"], want: ["b", "a"] },
  "retire removes the key that does not sign": { step: "retire", keys: ["b", "a"], want: ["b"] },
};
for (const [behaviour, { step, keys, want }] of Object.entries(steps))
  test(behaviour, () => expect(planStep(step, keys, "b")).toEqual(want));

test("a folder in the middle of a rotation is not prepared again, and none of its files changes", async () => {
  const folder = await makeFolder();
  await createHubKeys(join(folder, "keys"), deps);
  await rotateKeys(join(folder, "keys"), "prepare", clock);
  const before = await (await open(join(folder, "keys"))).fingerprints();

  await expect(rotateKeys(join(folder, "keys"), "prepare", clock)).rejects.toThrow("ca.pem already has a second key");

  expect(await (await open(join(folder, "keys"))).fingerprints()).toEqual(before);
});

test("each step of a rotation fits servers of the step before, and retirement does not fit the beginning", async () => {
  const folder = join(await makeFolder(), "keys");
  await createHubKeys(folder, deps);
  const history = [await (await open(folder)).fingerprints()];
  for (const step of ["prepare", "activate", "retire"] as const) {
    await rotateKeys(folder, step, clock);
    history.push(await (await open(folder)).fingerprints());
  }
  const [first = {}, prepared = {}, activated = {}, retired = {}] = history;

  expect([compareKeys(prepared, first), compareKeys(activated, prepared), compareKeys(retired, activated)]).toEqual([
    [],
    [],
    [],
  ]);
  expect(compareKeys(retired, first)).toHaveLength(4);
  expect(activated["certificate authority"]?.signs).not.toBe(first["certificate authority"]?.signs);
});

test("the keys of a new hub are private files, and a folder with keys is not filled again", async () => {
  const folder = join(await makeFolder(), "keys");

  await createHubKeys(folder, deps);

  expect((await readdir(folder)).toSorted()).toEqual([...KEY_FILES].toSorted());
  for (const name of KEY_FILES) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  await expect(createHubKeys(folder, deps)).rejects.toThrow("already has keys of a hub");
});

test("keys of a folder that is only read are never created", async () => {
  const folder = await makeFolder();

  await expect(open(folder)).rejects.toThrow("ca.pem does not exist; copy it from another API server");

  expect(await readdir(folder)).toEqual([]);
});

test("of two servers that record different keys at the same time one is refused", async () => {
  const engine = createMemoryEngine({ isShared: true });

  const outcomes = await Promise.allSettled([
    recordKeys(engine, uses("a"), "first/pki"),
    recordKeys(engine, uses("b"), "second/pki"),
  ]);

  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect((outcomes[1] as PromiseRejectedResult).reason).toMatchObject({
    code: "Keys",
    message: expect.stringContaining("the keys in second/pki are not those of the hub in this store (ca)") as string,
  });
  expect((await readKeyRecord(engine))?.keys).toEqual(uses("a"));
});

test("the record follows the server that started last, and is not written again for the same keys", async () => {
  const engine = createMemoryEngine({ isShared: true });
  await recordKeys(engine, uses("a"), "pki");
  await recordKeys(engine, uses("a", "b"), "pki");
  const revision = await engine.revision();

  await recordKeys(engine, uses("a", "b"), "pki");

  expect([(await readKeyRecord(engine))?.keys, await engine.revision()]).toEqual([uses("a", "b"), revision]);
});
