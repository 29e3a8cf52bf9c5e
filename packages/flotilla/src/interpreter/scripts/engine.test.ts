import { expect, test } from "vitest";
import { createFakeClock, MetricsText } from "@flotilla/base";
import { FIRST_RETRY_MS } from "./breaker.ts";
import { DEFAULT_BUDGET, LuaLimitError, LuaRuntimeError, LuaSyntaxError } from "@flotilla/lua";
import { createLuaEngine } from "./engine.ts";
import type { LuaEngine } from "./engine.ts";
import type { ScriptOwner } from "./script-owner.ts";
import type { LuaProgram } from "./program.ts";
import type { Quarantine } from "./quarantine.ts";

const HEALTH: ScriptOwner = { customization: "web", operation: "InterpretHealth" };
/** Loops forever or fails on request, and is healthy otherwise. */
const SCRIPT =
  "function InterpretHealth(o) while o.loop do end if o.fail then error('no') end if o.wrong then return 'x' end return true end";
const object = { kind: "Web" };

function makeEngine(isolation?: "process" | "worker"): {
  engine: LuaEngine;
  clock: ReturnType<typeof createFakeClock>;
  elsewhere: string[];
  reported: string[];
  program: LuaProgram;
} {
  const clock = createFakeClock();
  const elsewhere: string[] = [];
  const reported: string[] = [];
  const quarantine: Quarantine = {
    run(_source, name) {
      elsewhere.push(name);
      return Promise.reject(new LuaRuntimeError("from elsewhere"));
    },
    close: () => Promise.resolve(),
  };
  const engine = createLuaEngine({ clock, quarantine, budget: { ...DEFAULT_BUDGET, ticks: 20_000 }, isolation });
  engine.onTripped(({ customization, operation }, state) => reported.push(`${customization} ${operation} ${state}`));
  return { engine, clock, elsewhere, reported, program: engine.prepare(SCRIPT, HEALTH) };
}

const overrun = (program: LuaProgram): void =>
  expect(() => program.interpretHealth({ ...object, loop: true })).toThrow(LuaLimitError);

function trip(program: LuaProgram): void {
  for (let call = 0; call < 3; call++) overrun(program);
}

function metricsOf(engine: LuaEngine): string[] {
  const text = new MetricsText();
  engine.writeMetrics(text);
  return text
    .finish()
    .split("\n")
    .filter((line) => !line.startsWith("#") && line !== "");
}

test("a script within its limits returns synchronously", () => {
  const { program, elsewhere } = makeEngine();

  expect(program.interpretHealth(object)).toBe(true);
  expect(elsewhere).toEqual([]);
});

test("the third overrun in a row moves a script out of the process", async () => {
  const { program, elsewhere, reported } = makeEngine();

  trip(program);

  await expect(program.interpretHealth(object)).rejects.toThrow("from elsewhere");
  expect(elsewhere).toEqual(["interpretHealth"]);
  expect(reported).toEqual(["web InterpretHealth quarantined"]);
});

test("overruns with a normal call in between do not move a script", () => {
  const { program, reported } = makeEngine();

  overrun(program);
  overrun(program);
  expect(() => program.interpretHealth({ ...object, fail: true })).toThrow(LuaRuntimeError);
  overrun(program);
  overrun(program);

  expect(program.interpretHealth(object)).toBe(true);
  expect(reported).toEqual([]);
});

test("after a minute one call is tried in the process, and its success moves the script back", async () => {
  const { program, clock, reported } = makeEngine();
  trip(program);

  clock.advance(FIRST_RETRY_MS - 1);
  await expect(program.interpretHealth(object)).rejects.toThrow("from elsewhere");
  clock.advance(1);

  expect(program.interpretHealth(object)).toBe(true);
  expect(reported).toEqual(["web InterpretHealth quarantined", "web InterpretHealth in-process"]);
});

test("a retry that overruns doubles the wait, up to an hour", async () => {
  const { program, clock, elsewhere } = makeEngine();
  trip(program);
  const waits = [1, 2, 4, 8, 16, 32, 60, 60].map((minutes) => minutes * 60_000);

  for (const wait of waits) {
    clock.advance(wait - 1);
    await expect(program.interpretHealth({ ...object, loop: true })).rejects.toThrow("from elsewhere");
    clock.advance(1);
    overrun(program);
  }

  expect(elsewhere).toHaveLength(waits.length);
});

test("a script stays in quarantine when its owner is prepared again, and a changed script starts afresh", async () => {
  const { engine, program } = makeEngine();
  trip(program);

  await expect(engine.prepare(SCRIPT, HEALTH).interpretHealth(object)).rejects.toThrow("from elsewhere");
  expect(engine.prepare(`${SCRIPT} -- better`, HEALTH).interpretHealth(object)).toBe(true);
});

test("the same script of another owner is not quarantined", () => {
  const { engine, program } = makeEngine();
  trip(program);

  expect(engine.prepare(SCRIPT, { ...HEALTH, customization: "other" }).interpretHealth(object)).toBe(true);
});

test("with worker isolation no script runs in the process", async () => {
  const { program, elsewhere } = makeEngine("worker");

  await expect(program.interpretHealth(object)).rejects.toThrow("from elsewhere");
  expect(elsewhere).toEqual(["interpretHealth"]);
});

test("prepare rejects an invalid script", () => {
  const { engine } = makeEngine();

  expect(() => engine.prepare("function", HEALTH)).toThrow(LuaSyntaxError);
});

test("counts calls and failures by owner and by where the script runs", () => {
  const { engine, program } = makeEngine();

  void program.interpretHealth(object);
  expect(() => program.interpretHealth({ ...object, fail: true })).toThrow("no");
  expect(() => program.interpretHealth({ ...object, wrong: true })).toThrow("is not bool");
  trip(program);

  const labels = 'customization="web",operation="InterpretHealth"';
  expect(metricsOf(engine)).toEqual(
    expect.arrayContaining([
      `flotilla_interpreter_script_duration_seconds_count{${labels}} 6`,
      `flotilla_interpreter_script_failures_total{${labels},reason="error"} 1`,
      `flotilla_interpreter_script_failures_total{${labels},reason="limit"} 3`,
      `flotilla_interpreter_script_failures_total{${labels},reason="result"} 1`,
      `flotilla_interpreter_script_quarantined{${labels}} 1`,
    ]),
  );
});

test("reports a script as failing until a call succeeds or its text changes", () => {
  const { engine, program } = makeEngine();
  const failing = (): string | undefined =>
    metricsOf(engine)
      .find((line) => line.startsWith("flotilla_interpreter_script_failing{"))
      ?.at(-1);
  const fail = (): void => expect(() => program.interpretHealth({ ...object, fail: true })).toThrow("no");

  fail();
  const first = failing();
  void program.interpretHealth(object);
  const after = failing();
  fail();
  engine.prepare(`${SCRIPT} -- better`, HEALTH);

  expect([first, after, failing()]).toEqual(["1", "0", "0"]);
});

test("writes no metrics for a deleted owner", () => {
  const { engine } = makeEngine();
  engine.prepare(SCRIPT, { ...HEALTH, operation: "Retain" });
  engine.prepare(SCRIPT, { ...HEALTH, customization: "web2" });

  engine.forget("web", "Retain");
  expect(metricsOf(engine).filter((line) => line.includes("quarantined"))).toHaveLength(2);

  engine.forget("web");
  expect(metricsOf(engine).filter((line) => line.includes("quarantined"))).toEqual([
    'flotilla_interpreter_script_quarantined{customization="web2",operation="InterpretHealth"} 0',
  ]);
});

test("throws on creation while Object.prototype is polluted", () => {
  Reflect.set(Object.prototype, "polluted", true);
  try {
    expect(() => createLuaEngine({ clock: createFakeClock() })).toThrow("Object.prototype has a property polluted");
  } finally {
    Reflect.deleteProperty(Object.prototype, "polluted");
  }
});
