/** Every member as a square, grouped. Drawn on a canvas, because a thousand elements would be slower than the data. */
import { useEffect, useRef, useState } from "preact/hooks";
import { layoutMap } from "../../src/map-layout.ts";
import type { MapLayout } from "../../src/map-layout.ts";
import type { MemberRow } from "../../src/wire.ts";
import { t } from "../i18n.ts";
import { href } from "../router.ts";
import { colour, onTheme } from "../theme.ts";
import { toneOfMember } from "./glyph.tsx";

export interface FleetMapProps {
  members: readonly MemberRow[];
  groupOf(member: MemberRow): string;
  weightOf(member: MemberRow): number;
  describe(member: MemberRow): string;
}

export function FleetMap({ members, groupOf, weightOf, describe }: FleetMapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const layout = useRef<MapLayout>({ height: 0, groups: [], squares: [] });
  const [hover, setHover] = useState<{ member: MemberRow; x: number; y: number } | undefined>(undefined);
  const [, setSize] = useState(0);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const redraw = (): void => setSize((count) => count + 1);
    const observer = new ResizeObserver(redraw);
    observer.observe(element.parentElement ?? element);
    const stop = onTheme(redraw);
    return () => {
      observer.disconnect();
      stop();
    };
  }, []);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context) return;
    const width = element.parentElement?.clientWidth ?? 600;
    layout.current = layoutMap(
      members.map((member) => ({ group: groupOf(member), weight: weightOf(member) })),
      width,
    );
    draw(context, layout.current, members, width);
  });
  const find = (event: MouseEvent): MemberRow | undefined => {
    const square = layout.current.squares.findIndex(
      ({ x, y, size }) =>
        event.offsetX >= x && event.offsetX < x + size && event.offsetY >= y && event.offsetY < y + size,
    );
    return members[square];
  };
  return (
    <div class="fleet-map">
      <canvas
        ref={canvas}
        role="img"
        aria-label={t("Map of {count} members; the table below has the same members", { count: members.length })}
        onMouseMove={(event) => {
          const member = find(event);
          setHover(member && { member, x: event.offsetX, y: event.offsetY });
        }}
        onMouseLeave={() => setHover(undefined)}
        onClick={(event) => {
          const member = find(event);
          if (member) location.hash = href(["member", member.name]);
        }}
      />
      {hover && (
        <div class="hover" style={{ left: `${hover.x + 14}px`, top: `${hover.y + 14}px` }}>
          {describe(hover.member)}
        </div>
      )}
    </div>
  );
}

function draw(
  context: CanvasRenderingContext2D,
  layout: MapLayout,
  members: readonly MemberRow[],
  width: number,
): void {
  const { canvas } = context;
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(layout.height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${layout.height}px`;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, layout.height);
  context.font = `12px ${colour("--font")}`;
  context.fillStyle = colour("--muted");
  for (const { x, y, title, count } of layout.groups) context.fillText(`${title}  ${count}`, x, y);
  const tones = {
    good: colour("--good"),
    busy: colour("--busy"),
    bad: colour("--bad"),
    stale: colour("--stale"),
    idle: colour("--idle"),
  };
  const paper = colour("--paper");
  for (const [index, { x, y, size, fill }] of layout.squares.entries()) {
    const member = members[index];
    if (!member) continue;
    const tone = toneOfMember[member.state];
    context.fillStyle = tones[tone];
    const inset = (size - fill) / 2;
    context.beginPath();
    context.roundRect(x + inset, y + inset, fill, fill, Math.min(4, fill / 5));
    context.fill();
    // A shape beside the colour.
    if (tone === "bad" || member.cordoned) {
      context.strokeStyle = paper;
      context.lineWidth = Math.max(1.5, fill / 9);
      context.beginPath();
      const a = fill * 0.28;
      context.moveTo(x + inset + a, y + inset + fill - a);
      context.lineTo(x + inset + fill - a, y + inset + a);
      if (tone === "bad") {
        context.moveTo(x + inset + a, y + inset + a);
        context.lineTo(x + inset + fill - a, y + inset + fill - a);
      }
      context.stroke();
    }
    if (size >= 60) {
      context.fillStyle = paper;
      context.font = `600 11px ${colour("--font")}`;
      context.fillText(short(member.name, fill), x + inset + 7, y + inset + fill - 8);
    }
  }
}

const short = (name: string, width: number): string => {
  const most = Math.floor((width - 12) / 6.2);
  return name.length <= most ? name : `${name.slice(0, Math.max(1, most - 1))}…`;
};
