/** Writes to a SQLite store as fast as it can and prints every acknowledged key, until it is killed. */
import { openSqliteEngine } from "../sqlite-engine.ts";

const WRITERS = 32;
const path = process.argv[2] ?? "";
const engine = await openSqliteEngine({ path });
const value = new Uint8Array(2048).fill(7);

async function write(writer: number): Promise<never> {
  for (let n = 0; ; n++) {
    const key = `/core/configmaps/hub/default/${writer}-${n}`;
    await engine.commit({ key, expect: "absent", value });
    process.stdout.write(`${key}\n`);
  }
}

await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
