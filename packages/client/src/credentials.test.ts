import { describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { createFileCredentials, type Credentials } from "./credentials.ts";

function setUp(...contents: (Credentials | Error)[]) {
  const clock = createFakeClock();
  let reads = 0;
  const read = async (): Promise<Credentials> => {
    const content = contents[Math.min(reads++, contents.length - 1)];
    if (content === undefined || content instanceof Error) throw content ?? new Error("nothing there");
    return content;
  };
  return { clock, source: createFileCredentials({ read, clock }), reads: () => reads };
}

describe("credentials in files", () => {
  test("are read once a minute, regardless of the number of requests", async () => {
    const { clock, source, reads } = setUp({ token: "a" }, { token: "b" });

    const first = await Promise.all([source.current(), source.current()]);
    clock.advance(59_999);
    const cached = await source.current();
    clock.advance(1);
    const second = await source.current();

    expect([...first, cached, second]).toEqual([{ token: "a" }, { token: "a" }, { token: "a" }, { token: "b" }]);
    expect(reads()).toBe(2);
  });

  const passedOver: Record<string, Credentials | Error> = {
    "a missing file": new Error("ENOENT"),
    "an empty token": { token: "" },
    "a certificate whose key is missing": { cert: "-----BEGIN CERTIFICATE-----", key: "" },
  };
  for (const [what, content] of Object.entries(passedOver)) {
    test(`${what} in the middle of a rotation leaves the old ones in force`, async () => {
      const { clock, source } = setUp({ token: "a" }, content, { token: "b" });
      await source.current();

      clock.advance(60_000);
      const meanwhile = await source.current();
      clock.advance(60_000);

      expect([meanwhile, await source.current()]).toEqual([{ token: "a" }, { token: "b" }]);
    });
  }

  test("credentials in files that never existed cause an error with the reason, and are read again", async () => {
    const { source } = setUp(new Error("no such file"), { token: "a" });

    await expect(source.current()).rejects.toMatchObject({
      code: "Credentials",
      message: "cannot read the credential files: no such file",
    });

    expect(await source.current()).toEqual({ token: "a" });
  });

  test("credentials in files that the server rejects are read again, but not on every rejection", async () => {
    const { clock, source, reads } = setUp({ token: "a" }, { token: "a" }, { token: "b" });
    const first = await source.current();

    const atOnce = await source.replace(first);
    clock.advance(10_000);
    const unchanged = await source.replace(first);
    clock.advance(10_000);
    const changed = await source.replace(first);
    const known = await source.replace(first);

    expect([atOnce, unchanged, changed, known]).toEqual([undefined, undefined, { token: "b" }, { token: "b" }]);
    expect(reads()).toBe(3);
  });
});
