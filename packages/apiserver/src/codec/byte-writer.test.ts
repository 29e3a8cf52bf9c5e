import { expect, test } from "vitest";
import { ByteWriter } from "./byte-writer.ts";

test("text and bytes are returned in the order in which they were written", () => {
  const writer = new ByteWriter(4);

  writer.text("ab");
  writer.bytes(Buffer.from("xcdx"), 1, 3);
  writer.bytes(Buffer.from("xef"), 1);
  writer.bytes(Buffer.from("ghé"));

  expect(Buffer.concat(writer.finish()).toString()).toBe("abcdefghé");
});

test("a long response has few large chunks, none of them empty", () => {
  const writer = new ByteWriter(10 * 1024 * 1024);
  const item = Buffer.alloc(100 * 1024, "x");

  for (let index = 0; index < 10; index++) writer.bytes(item);
  writer.bytes(Buffer.alloc(1024 * 1024, "y"));

  const chunks = writer.finish();
  expect(chunks.map(({ byteLength }) => byteLength / 1024)).toEqual([200, 200, 200, 200, 200, 1024]);
});

test("an empty response is one empty chunk", () => {
  expect(new ByteWriter(0).finish().map(({ byteLength }) => byteLength)).toEqual([0]);
});

test("released chunks are reused, each by one writer only", () => {
  const write = (letter: string): ByteWriter => {
    const writer = new ByteWriter(1024 * 1024);
    writer.bytes(Buffer.alloc(200 * 1024, letter));
    return writer;
  };
  const first = write("a");
  const [sent] = first.finish();
  first.release();
  first.release();

  const [second] = write("b").finish();
  const [third] = write("c").finish();

  expect(second?.buffer).toBe(sent?.buffer);
  expect(third?.buffer).not.toBe(sent?.buffer);
});
