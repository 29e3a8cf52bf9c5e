import { expect, test } from "vitest";
import { readOutput, renderClients } from "./clients.ts";

test("counts the checks of a client and keeps the reasons of failures", () => {
  expect(readOutput("ok exec\nfailed cp: no route\nnoise\nok logs\n")).toEqual({ passed: 2, failed: ["cp: no route"] });
});

test("a program that ends early or checks nothing has failed", () => {
  expect(readOutput("ok exec\n", "exit code 1").failed).toEqual(["the program ended early: exit code 1"]);
  expect(readOutput("").failed).toEqual(["the program checked nothing"]);
});

test("the table names what is not installed", () => {
  expect(
    renderClients([{ client: "kubectl 1.30.0", passed: 3, failed: [] }], [{ name: "Java client", reason: "" }]),
  ).toBe(
    "| client | passed | failed |\n|---|---|---|\n| kubectl 1.30.0 | 3 | none |\n| Java client | not installed | |\n",
  );
});
