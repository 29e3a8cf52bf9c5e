/** Workloads × members: one cell per copy. The canvas draws only what is on the screen. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatShare } from "../../src/format.ts";
import type { Cell, WorkloadRow } from "../../src/wire.ts";
import { HEALTH } from "../../src/wire.ts";
import type { ViewProps } from "../view.ts";
import { useFleet } from "../fleet-store.ts";
import { t } from "../i18n.ts";
import { FIRST_COMMANDS, useFiltered, WorkloadFilters } from "../parts/filters.tsx";
import { toneOf, wordOf } from "../parts/glyph.tsx";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { objectPath, setQuery } from "../router.ts";
import { colour, onTheme } from "../theme.ts";

/** The sides of a cell, in pixels; the smallest shows the worst of several workloads. */
const ZOOMS = [
  { width: 2, height: 1 },
  { width: 6, height: 6 },
  { width: 14, height: 16 },
  { width: 44, height: 26 },
  { width: 84, height: 30 },
] as const;
const HEAD = { slanted: 74, straight: 32, none: 8 } as const;

export function MatrixView({ route }: ViewProps) {
  const fleet = useFleet();
  const rows = useFiltered(route);
  if (fleet.error !== "" && !fleet.loaded) return <Failed reason={fleet.error} />;
  if (!fleet.loaded) return <Loading />;
  const fitting = fleet.members.length <= 14 ? 4 : fleet.members.length <= 40 ? 3 : fleet.members.length <= 120 ? 2 : 1;
  const zoom = Math.min(ZOOMS.length - 1, Math.max(0, Number(route.query.get("zoom") ?? fitting) || 0));
  return (
    <div class="view fill-view matrix">
      <h1 class="visually-hidden">{t("Matrix of workloads and members")}</h1>
      <WorkloadFilters route={route} shown={rows.length} />
      <div class="controls">
        <label>
          {t("zoom")}
          <input
            type="range"
            min={0}
            max={ZOOMS.length - 1}
            value={zoom}
            onInput={({ currentTarget }) => setQuery(route, { zoom: currentTarget.value })}
          />
        </label>
        <Legend />
      </div>
      {rows.length === 0 ? (
        <Empty
          title={fleet.workloads.length === 0 ? t("Nothing is propagated yet") : t("No workload matches the filters")}
          commands={fleet.workloads.length === 0 ? FIRST_COMMANDS : []}
        />
      ) : (
        <Grid rows={rows} zoom={zoom} />
      )}
    </div>
  );
}

function Legend() {
  const words = { healthy: "●", progressing: "◐", stale: "▲", failed: "✖", unknown: "–" } as const;
  return (
    <span class="legend">
      {HEALTH.map((health) => (
        <span key={health} class={`state ${toneOf[health]}`}>
          <span aria-hidden="true">{words[health]}</span> {wordOf(health)}
        </span>
      ))}
    </span>
  );
}

function Grid({ rows, zoom }: { rows: readonly WorkloadRow[]; zoom: number }) {
  const fleet = useFleet();
  const { width: cellWidth, height: cellHeight } = ZOOMS[zoom] ?? ZOOMS[2];
  const members = fleet.members;
  const columnOf = useMemo(() => new Map(members.map(({ name }, index) => [name, index])), [members]);
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [view, setView] = useState({ x: 0, y: 0, width: 800, height: 400 });
  const [cursor, setCursor] = useState<{ row: number; column: number }>({ row: 0, column: 0 });
  const [focused, setFocused] = useState(false);
  const [, redraw] = useState(0);
  const label = view.width < 600 ? 110 : 210;
  const head = cellWidth >= 84 ? HEAD.straight : cellWidth >= 14 ? HEAD.slanted : HEAD.none;
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = (): void =>
      setView({
        x: element.scrollLeft,
        y: element.scrollTop,
        width: element.clientWidth,
        height: element.clientHeight,
      });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    const stop = onTheme(() => redraw((count) => count + 1));
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
      stop();
    };
  }, []);
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (context)
      draw(context, {
        rows,
        columnOf,
        members: members.map(({ name }) => name),
        view,
        cellWidth,
        cellHeight,
        label,
        head,
        cursor: focused ? cursor : undefined,
      });
  });
  const row = rows[Math.min(cursor.row, rows.length - 1)];
  const member = members[cursor.column];
  const cell = row?.cells.find((each) => each.member === member?.name);
  const at = (event: MouseEvent): { row: number; column: number } | undefined => {
    const column = Math.floor((event.offsetX - label + view.x) / cellWidth);
    const place = Math.floor((event.offsetY - head + view.y) / cellHeight);
    if (place < 0 || place >= rows.length || event.offsetY < head) return undefined;
    return { row: place, column: event.offsetX < label ? -1 : column };
  };
  const open = (place: { row: number; column: number } | undefined): void => {
    const target = place && rows[place.row];
    if (target) location.hash = objectPath(target);
  };
  const onKey = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, readonly [number, number]>> = {
      ArrowDown: [1, 0],
      j: [1, 0],
      ArrowUp: [-1, 0],
      k: [-1, 0],
      ArrowRight: [0, 1],
      ArrowLeft: [0, -1],
    };
    const step = steps[event.key];
    if (step) {
      const next = {
        row: Math.max(0, Math.min(rows.length - 1, cursor.row + step[0])),
        column: Math.max(0, Math.min(members.length - 1, cursor.column + step[1])),
      };
      setCursor(next);
      reveal(scroller.current, next, { cellWidth, cellHeight, label, head });
    } else if (event.key === "Enter") open(cursor);
    else if (event.key === "w" && row) location.hash = objectPath(row, "why");
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div
        class="matrix-scroll"
        ref={scroller}
        tabIndex={0}
        role="application"
        aria-label={t("Matrix: arrow keys move, Enter opens, w explains")}
        aria-describedby="matrix-cell"
        onKeyDown={onKey}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      >
        <div
          style={{
            width: `${label + members.length * cellWidth + 8}px`,
            height: `${head + rows.length * cellHeight + 8}px`,
          }}
        >
          <canvas
            ref={canvas}
            onMouseMove={(event) => {
              const place = at(event);
              if (place && place.column >= 0) setCursor(place);
            }}
            onClick={(event) => open(at(event))}
          />
        </div>
      </div>
      <p id="matrix-cell" class="matrix-cell" aria-live="polite">
        {row && (
          <>
            <b>{row.namespace === "" ? row.name : `${row.namespace}/${row.name}`}</b> {row.kind}
            {member && (
              <>
                {" · "}
                {member.name}: {cell ? cellText(cell) : t("no copy")}
              </>
            )}
            {row.note !== "" && <span class="bad"> · {row.note}</span>}
          </>
        )}
      </p>
    </>
  );
}

const cellText = ({ ready, desired, updated, health }: Cell): string =>
  [
    wordOf(health),
    desired >= 0 || ready >= 0 ? t("{share} ready", { share: formatShare(ready, desired) }) : "",
    updated >= 0 && desired >= 0 ? t("{count} of the newest version", { count: updated }) : "",
  ]
    .filter((part) => part !== "")
    .join(", ");

function reveal(
  element: HTMLElement | null,
  { row, column }: { row: number; column: number },
  { cellWidth, cellHeight, label, head }: Record<"cellWidth" | "cellHeight" | "label" | "head", number>,
): void {
  if (!element) return;
  const [x, y] = [column * cellWidth, row * cellHeight];
  const [width, height] = [element.clientWidth - label, element.clientHeight - head];
  if (x < element.scrollLeft) element.scrollLeft = x;
  else if (x + cellWidth > element.scrollLeft + width) element.scrollLeft = x + cellWidth - width;
  if (y < element.scrollTop) element.scrollTop = y;
  else if (y + cellHeight > element.scrollTop + height) element.scrollTop = y + cellHeight - height;
}

interface Drawing {
  rows: readonly WorkloadRow[];
  columnOf: ReadonlyMap<string, number>;
  members: readonly string[];
  view: { x: number; y: number; width: number; height: number };
  cellWidth: number;
  cellHeight: number;
  label: number;
  head: number;
  cursor: { row: number; column: number } | undefined;
}

function draw(context: CanvasRenderingContext2D, drawing: Drawing): void {
  const { rows, columnOf, members, view, cellWidth, cellHeight, label, head, cursor } = drawing;
  const { canvas } = context;
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(view.width * scale);
  canvas.height = Math.round(view.height * scale);
  canvas.style.width = `${view.width}px`;
  canvas.style.height = `${view.height}px`;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const font = colour("--font");
  const strong = Object.fromEntries(
    ["good", "busy", "stale", "bad", "idle"].map((tone) => [tone, colour(`--${tone}`)]),
  );
  const soft = Object.fromEntries(
    ["good", "busy", "stale", "bad", "idle"].map((tone) => [tone, colour(`--${tone}-soft`)]),
  );
  const [ink, muted, line, raised] = [colour("--ink"), colour("--muted"), colour("--line"), colour("--raised")];
  context.fillStyle = raised;
  context.fillRect(0, 0, view.width, view.height);
  const first = Math.max(0, Math.floor(view.y / cellHeight));
  const last = Math.min(rows.length, Math.ceil((view.y + view.height - head) / cellHeight));
  const hasText = cellWidth >= 44;
  context.textBaseline = "middle";
  /** At one pixel per row several workloads share a pixel; the worst is drawn last. */
  const order = cellHeight < 6 ? HEALTH : undefined;
  const paint = (only?: Cell["health"]): void => {
    for (let index = first; index < last; index++) {
      const row = rows[index];
      if (!row) continue;
      const y = head + index * cellHeight - view.y;
      for (const cell of row.cells) {
        if (only !== undefined && cell.health !== only) continue;
        const column = columnOf.get(cell.member);
        if (column === undefined) continue;
        const x = label + column * cellWidth - view.x;
        if (x + cellWidth < label || x > view.width) continue;
        const tone = toneOf[cell.health];
        if (hasText) {
          context.fillStyle = soft[tone] ?? line;
          context.beginPath();
          context.roundRect(x + 2, y + 2, cellWidth - 4, cellHeight - 4, 4);
          context.fill();
          context.fillStyle = tone === "good" ? ink : (strong[tone] ?? ink);
          context.font = `${tone === "good" ? 450 : 650} 11px ${font}`;
          context.textAlign = "center";
          context.fillText(
            `${MARK[tone]}${cell.desired >= 0 ? formatShare(cell.ready, cell.desired) : tone === "good" ? "✓" : ""}`,
            x + cellWidth / 2,
            y + cellHeight / 2 + 0.5,
          );
        } else {
          context.fillStyle = strong[tone] ?? line;
          const gap = cellWidth >= 6 ? 1 : 0;
          context.fillRect(x, y, cellWidth - gap, Math.max(1, cellHeight - gap));
          if (cellWidth >= 14 && tone !== "good") {
            context.fillStyle = raised;
            context.font = `700 9px ${font}`;
            context.textAlign = "center";
            context.fillText(MARK[tone].trim(), x + cellWidth / 2 - 0.5, y + cellHeight / 2);
          }
        }
      }
    }
  };
  if (order) for (const health of order) paint(health);
  else paint();
  // Names of workloads, over cells that were scrolled below them.
  context.fillStyle = raised;
  context.fillRect(0, 0, label, view.height);
  context.textAlign = "left";
  if (cellHeight >= 14)
    for (let index = first; index < last; index++) {
      const row = rows[index];
      if (!row) continue;
      const y = head + index * cellHeight - view.y + cellHeight / 2;
      context.font = `450 12px ${font}`;
      const tone = toneOf[row.health];
      context.fillStyle = tone === "good" ? ink : (strong[tone] ?? ink);
      context.fillText(
        fit(context, `${row.namespace === "" ? "" : `${row.namespace}/`}${row.name}`, label - 16),
        12,
        y,
      );
    }
  context.fillStyle = raised;
  context.fillRect(0, 0, view.width, head);
  if (cellWidth >= 14) {
    context.font = `450 11px ${font}`;
    for (const [column, name] of members.entries()) {
      const x = label + column * cellWidth - view.x;
      if (x < label - cellWidth || x > view.width) continue;
      context.fillStyle = muted;
      context.save();
      context.translate(x + cellWidth / 2 - (cellWidth >= 84 ? 0 : 3), head - 10);
      if (cellWidth >= 84) context.textAlign = "center";
      else context.rotate(-Math.PI / 3.2);
      context.fillText(fit(context, name, cellWidth >= 84 ? cellWidth - 6 : 78), 0, 0);
      context.restore();
    }
    context.fillStyle = raised;
    context.fillRect(0, 0, label - 4, head);
  }
  context.fillStyle = line;
  context.fillRect(label - 1, 0, 1, view.height);
  context.fillRect(0, head - 1, view.width, 1);
  if (cursor && cursor.column >= 0) {
    context.strokeStyle = ink;
    context.lineWidth = 1.5;
    context.strokeRect(
      label + cursor.column * cellWidth - view.x + 0.5,
      head + cursor.row * cellHeight - view.y + 0.5,
      Math.max(3, cellWidth - 1),
      Math.max(3, cellHeight - 1),
    );
  }
}

const MARK = { good: "", busy: "◐ ", stale: "▲ ", bad: "✖ ", idle: "– " } as const;

function fit(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
