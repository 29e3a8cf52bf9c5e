/** A damaged data directory: refused at the start, reported and repaired by `stores`. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCache, openSqliteEngine } from "@flotilla/apiserver";
import { stores } from "./stores.ts";

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "flotilla-stores-"));
});
afterEach(() => rmSync(data, { recursive: true }));
const ignore = (): void => undefined;

/** A store with one object that was written twice, whose newest value is damaged. */
async function writeDamaged(): Promise<void> {
  const path = join(data, "flotilla.db");
  const engine = await openSqliteEngine({ path });
  for (const value of ["{}", '{"a":1}'])
    await engine.commit({ key: "/core/configmaps/hub/shop/settings", expect: "any", value: Buffer.from(value) });
  await engine.close();
  using database = new DatabaseSync(path);
  database.exec("UPDATE changes SET value = CAST('?' AS BLOB) WHERE revision = 2");
}

test("a damaged object is reported with its copy, and the repaired store starts with it", async () => {
  await writeDamaged();

  const report = await stores.check(data, undefined, ignore);
  const { objects, keptAs } = await stores.repair(data, undefined, ignore);

  expect(report.damaged).toMatchObject([
    { object: "configmaps shop/settings of hub", problem: "the value is damaged", from: "history", revision: 1 },
  ]);
  expect([objects, keptAs?.startsWith(join(data, "flotilla.db.damaged-"))]).toEqual([1, true]);
  const engine = await openSqliteEngine({ path: join(data, "flotilla.db") });
  const cache = await createCache(engine);
  expect(Buffer.from(cache.get("/core/configmaps/hub/shop/settings")?.value ?? []).toString()).toBe("{}");
  await cache.close();
  await engine.close();
});

test("a directory without a store is not checked, and a file of another kind is reported", async () => {
  await expect(stores.check(data, undefined, ignore)).rejects.toThrow("there is no store");
  writeFileSync(join(data, "flotilla.db"), "these are not the bytes of a database".repeat(50));

  const { structure } = await stores.check(data, undefined, ignore);

  expect(structure).toEqual(["the file cannot be read as a database"]);
});
