/** Search and commands in one place: what the page knows answers at once, members answer a moment later. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { rankMatches } from "../src/rank.ts";
import { formatShare } from "../src/format.ts";
import { useFleet } from "./fleet-store.ts";
import { t } from "./i18n.ts";
import { Dialog } from "./parts/dialog.tsx";
import { Glyph, toneOf, toneOfMember } from "./parts/glyph.tsx";
import type { Tone } from "./parts/glyph.tsx";
import { href, objectPath } from "./router.ts";
import { request } from "./session.ts";
import { chooseTheme } from "./theme.ts";

interface Item {
  id: string;
  title: string;
  detail: string;
  tone: Tone;
  run(): void;
}
interface Hit {
  member: string;
  namespace: string;
  name: string;
  by: string;
  detail: string;
}

const MAX_ITEMS = 30;
const ASK_MS = 200;

export function Palette({ open, onClose }: { open: boolean; onClose(): void }) {
  return (
    <Dialog label={t("Search or run a command")} open={open} onClose={onClose} className="palette">
      <Search onClose={onClose} />
    </Dialog>
  );
}

function Search({ onClose }: { onClose(): void }) {
  const fleet = useFleet();
  const [text, setText] = useState("");
  const [cursor, setCursor] = useState(0);
  const [found, setFound] = useState<{ text: string; hits: Hit[]; notes: string[]; total: number }>({
    text: "",
    hits: [],
    notes: [],
    total: 0,
  });
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  useEffect(() => {
    if (text.trim().length < 2) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      request<Omit<typeof found, "text">>(`search?q=${encodeURIComponent(text)}`, { signal: stop.signal }).then(
        (answer) => setFound({ text, ...answer }),
        () => {},
      );
    }, ASK_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);

  const items = useMemo(() => {
    const goTo = (to: string) => () => void (location.hash = to);
    const commands: Item[] = [
      { id: "fleet", title: t("Go to the fleet"), detail: "", tone: "idle", run: goTo(href(["fleet"])) },
      {
        id: "problems",
        title: t("Show the problems"),
        detail: "flotilla doctor",
        tone: "idle",
        run: goTo(href(["problems"])),
      },
      {
        id: "apply",
        title: t("Plan and apply manifests"),
        detail: "flotilla plan -f …",
        tone: "idle",
        run: goTo(href(["apply"])),
      },
      {
        id: "bad",
        title: t("Workloads that are not healthy"),
        detail: "",
        tone: "idle",
        run: goTo(href(["workloads"], { only: "unhealthy" })),
      },
      { id: "dark", title: t("Use dark colours"), detail: "", tone: "idle", run: () => chooseTheme("dark") },
      { id: "light", title: t("Use light colours"), detail: "", tone: "idle", run: () => chooseTheme("light") },
    ];
    const members: Item[] = fleet.members.map(({ name, state, region }) => ({
      id: `member ${name}`,
      title: name,
      detail: `${t("member")} ${region}`,
      tone: toneOfMember[state],
      run: goTo(href(["member", name])),
    }));
    const whatIf: Item[] = fleet.members.map(({ name }) => ({
      id: `without ${name}`,
      title: t("What if {member} left?", { member: name }),
      detail: `flotilla plan --without-cluster ${name}`,
      tone: "idle",
      run: goTo(href(["member", name, "what-if"])),
    }));
    const workloads: Item[] = fleet.workloads.map((row) => ({
      id: row.id,
      title: `${row.namespace === "" ? "" : `${row.namespace}/`}${row.name}`,
      detail: `${row.kind} ${formatShare(row.ready, row.desired)}`,
      tone: toneOf[row.health],
      run: goTo(objectPath(row)),
    }));
    const known = rankMatches(
      text,
      [...workloads, ...members, ...commands, ...(text.trim() === "" ? [] : whatIf)],
      (item) => `${item.title} ${item.detail}`,
    );
    return known.slice(0, MAX_ITEMS);
  }, [text, fleet.version]);
  const pods: Item[] =
    found.text === text
      ? found.hits.map(({ member, namespace, name, detail, by }) => ({
          id: `pod ${member}/${namespace}/${name}`,
          title: `${namespace}/${name}`,
          detail: `${t("pod on {member}", { member })} · ${by === "image" ? detail : by}`,
          tone: "idle",
          run: () => void (location.hash = href(["member", member, "pods"], { q: name })),
        }))
      : [];
  const all = [...items, ...pods];
  const chosen = Math.min(cursor, all.length - 1);
  const run = (item: Item | undefined): void => {
    if (!item) return;
    onClose();
    item.run();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setCursor(Math.min(all.length - 1, chosen + 1));
    else if (event.key === "ArrowUp") setCursor(Math.max(0, chosen - 1));
    else if (event.key === "Enter") run(all[chosen]);
    else return;
    event.preventDefault();
  };
  useEffect(() => document.getElementById(`item-${chosen}`)?.scrollIntoView({ block: "nearest" }), [chosen]);
  return (
    <>
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-items"
        aria-activedescendant={all.length > 0 ? `item-${chosen}` : undefined}
        aria-label={t("Search or run a command")}
        placeholder={t("A name, a label, an image, a command…")}
        value={text}
        onInput={({ currentTarget: { value } }) => (setText(value), setCursor(0))}
        onKeyDown={onKey}
      />
      <div id="palette-items" class="palette-items" role="listbox" aria-label={t("Results")}>
        {all.map((item, index) => (
          <div
            key={item.id}
            id={`item-${index}`}
            role="option"
            aria-selected={index === chosen}
            class={`palette-item ${index === chosen ? "cursor" : ""}`}
            onMouseMove={() => setCursor(index)}
            onClick={() => run(item)}
          >
            <Glyph tone={item.tone} />
            <span>{item.title}</span>
            <span class="muted">{item.detail}</span>
          </div>
        ))}
        {all.length === 0 && (
          <div class="palette-none" role="option" aria-selected="false">
            {t("Nothing matches")}
          </div>
        )}
      </div>
      <p class="palette-foot muted">
        {found.text === text && found.total > pods.length
          ? t("{count} pods match; the first are shown", { count: found.total })
          : ""}{" "}
        {found.notes.join("; ")}
      </p>
    </>
  );
}
