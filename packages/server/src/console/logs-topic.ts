/**
 * The logs of a workload over its members, merged by time: one request per container through the cluster proxy, lines
 * in batches. A browser that is slower than the pods loses lines, and the page shows how many.
 *
 * Each member is looked at every few seconds: containers that are new, were restarted, or whose log broke off are
 * followed from the last line on.
 */
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError, messageOf, defined } from "@flotilla/base";
import type { Clock, Timer } from "@flotilla/base";
import { queryText, readText } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import type { LogLine, LogsMessage, ObjectRef } from "@flotilla/web";
import { createContainerFinder, MAX_PODS, podPath } from "./find-containers.ts";
import { pause, reasonIn } from "./json-access.ts";
import { createLogPosition } from "./log-position.ts";
import type { LogPosition } from "./log-position.ts";
import { memberPath } from "./member-path.ts";
import { MAX_OPEN, planFollows, sourceId } from "./plan-follows.ts";
import type { KnownContainer } from "./plan-follows.ts";

export interface LogsTopicOptions {
  client: Client;
  clock: Clock;
  ref: ObjectRef;
  members: readonly string[];
  pod: string | undefined;
  container: string | undefined;
  tail: number;
  send(message: LogsMessage): void;
  fail(reason: string): void;
  signal: AbortSignal;
}

/** A page renders ten times a second at most, and a batch of that many lines within a frame. */
const BATCH_MS = 100;
const MAX_LINES_PER_BATCH = 500;
const MAX_LINE = 4_096;
/** Between two looks at a member, each of two requests. */
const LOOK_MS = 3_000;
/** Members that one page looks at; a fleet may have thousands. */
export const MAX_MEMBERS = 50;
const MAX_TAIL = 1_000;
/** A message of another server may have any length. */
const MAX_NOTE = 200;

interface Followed extends KnownContainer {
  position: LogPosition;
  state: LogsMessage["sources"][number]["state"];
  /** Why it cannot be read. */
  note: string;
}

export async function openLogsTopic(options: LogsTopicOptions): Promise<void> {
  const { client, clock, ref, send, fail, signal } = options;
  const members = [...new Set(options.members)];
  const tail = Math.min(MAX_TAIL, Math.max(1, options.tail));
  const known = new Map<string, Followed>();
  /** By member; of all members under the empty name. */
  const notes = new Map<string, string>();
  const following = new Set<Promise<void>>();
  let lines: LogLine[] = [];
  let lost = 0;
  let timer: Timer | undefined;
  const findContainers = createContainerFinder(options);

  const flush = (): void => {
    timer = undefined;
    if (signal.aborted) return;
    lines.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    const all = [...known.values()];
    const failed = all.flatMap(({ member, pod, note }) => (note === "" ? [] : [`${member}/${pod}: ${note}`]));
    send({
      lines,
      lost,
      notes: [...new Set([...notes.values(), ...failed])].slice(0, MAX_OPEN),
      sources: [
        ...all.filter(({ state }) => state !== "ended").slice(0, 2 * MAX_OPEN),
        ...all.filter(({ state }) => state === "ended").slice(-MAX_OPEN),
      ].map(({ member, pod, container, state }) => ({ member, pod, container, state })),
    });
    lines = [];
    lost = 0;
  };
  const changed = (): void => {
    timer ??= clock.after(BATCH_MS, flush);
  };
  signal.addEventListener("abort", () => timer?.cancel());

  /** Reads the log of one container until it ends or fails. */
  async function follow(followed: Followed): Promise<void> {
    const { member, pod, container, position } = followed;
    const settle = (state: Followed["state"], note: string): void => {
      followed.state = state;
      followed.isFailed = state === "failed";
      followed.note = note;
      changed();
    };
    try {
      const path = podPath(ref.namespace, pod, "log");
      const query = {
        container,
        follow: "true",
        timestamps: "true",
        ...defined({
          tailLines: position.since === "" ? String(tail) : undefined,
          sinceTime: position.since === "" ? undefined : position.since,
        }),
      };
      const { status, body } = await client.raw(
        { method: "GET", path: `${memberPath(member, path)}${queryText(query)}`, cluster: HUB },
        signal,
      );
      if (status !== 200) throw new FlotillaError("Member", reasonIn(await readText(body)));
      settle("open", "");
      position.resume();
      for await (const line of linesIn(body)) {
        const space = line.indexOf(" ");
        const time = space < 0 ? line : line.slice(0, space);
        const text = space < 0 ? "" : line.slice(space + 1, space + 1 + MAX_LINE);
        if (!position.accept(time, text)) continue;
        if (lines.length < MAX_LINES_PER_BATCH) lines.push({ member, pod, container, time, text });
        else lost += 1;
        changed();
      }
      settle("ended", "");
    } catch (error) {
      if (!signal.aborted) settle("failed", messageOf(error).slice(0, MAX_NOTE));
    } finally {
      followed.isActive = false;
    }
  }

  async function look(member: string): Promise<void> {
    const { containers, hasMore } = await findContainers(member);
    const { open, forget, leftOut } = planFollows(member, containers, known);
    for (const id of forget) known.delete(id);
    for (const { isRunning: _isRunning, run, ...source } of open) {
      const id = sourceId(source);
      const followed = known.get(id) ?? {
        ...source,
        position: createLogPosition(),
        state: "open",
        note: "",
        isActive: true,
        isFailed: false,
        run,
      };
      followed.run = run;
      followed.isActive = true;
      known.set(id, followed);
      const reading = follow(followed).finally(() => following.delete(reading));
      following.add(reading);
    }
    if (open.length + forget.length > 0) changed();
    setNote(
      member,
      leftOut > 0
        ? `only ${MAX_OPEN} containers are followed at once; choose members or a pod to see others`
        : hasMore
          ? `${member}: only the first ${MAX_PODS} pods are looked at; choose a pod to see others`
          : "",
    );
  }

  function setNote(member: string, note: string): void {
    if ((notes.get(member) ?? "") === note) return;
    if (note === "") notes.delete(member);
    else notes.set(member, note);
    changed();
  }

  /** A member that does not answer delays no other. */
  async function lookRepeatedly(member: string): Promise<void> {
    while (!signal.aborted) {
      try {
        await look(member);
      } catch (error) {
        if (signal.aborted) return;
        setNote(member, `${member}: ${messageOf(error).slice(0, MAX_NOTE)}`);
      }
      await pause(clock, LOOK_MS, signal);
    }
  }

  if (members.length === 0) {
    fail("no member has a copy of this workload");
    return;
  }
  if (members.length > MAX_MEMBERS)
    notes.set("", `only ${MAX_MEMBERS} of ${members.length} members are looked at; choose members to see others`);
  changed();
  await Promise.all(members.slice(0, MAX_MEMBERS).map(lookRepeatedly));
  await Promise.all(following);
}

async function* linesIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = (parts.pop() ?? "").slice(0, 1024 * 1024);
    yield* parts.filter((part) => part !== "");
  }
  if (rest !== "") yield rest;
}
