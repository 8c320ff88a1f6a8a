import { Ban, CircleAlert, CircleCheck, CircleDashed, CirclePause, LoaderCircle } from 'lucide-react';
import type { ComponentType, ReactNode } from 'react';
import style from './badge.module.css';
import { classes } from './classes.ts';

type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'idle' | 'accent';

type Look = {
  tone: Tone;
  label: string;
  Icon: ComponentType<{ size: number; className?: string | undefined }>;
};

const LOOKS: Record<string, Look> = {
  completed: { tone: 'good', label: 'Completed', Icon: CircleCheck },
  passed: { tone: 'good', label: 'Passed', Icon: CircleCheck },
  failed: { tone: 'bad', label: 'Failed', Icon: CircleAlert },
  error: { tone: 'bad', label: 'Error', Icon: CircleAlert },
  succeeded: { tone: 'good', label: 'Delivered', Icon: CircleCheck },
  failed_permanent: { tone: 'bad', label: 'Refused', Icon: CircleAlert },
  dead_letter: { tone: 'bad', label: 'Dead letter', Icon: CircleAlert },
  in_flight: { tone: 'busy', label: 'On its way', Icon: LoaderCircle },
  failed_retry: { tone: 'warn', label: 'Will be retried', Icon: LoaderCircle },
  cancelled: { tone: 'idle', label: 'Cancelled', Icon: Ban },
  refused: { tone: 'bad', label: 'Refused', Icon: CircleAlert },
  started: { tone: 'busy', label: 'Running', Icon: LoaderCircle },
  running: { tone: 'busy', label: 'Running', Icon: LoaderCircle },
  retrying: { tone: 'warn', label: 'Retrying', Icon: LoaderCircle },
  tool_calls_required: { tone: 'warn', label: 'Waiting for tools', Icon: CirclePause },
  paused: { tone: 'warn', label: 'Waiting for tools', Icon: CirclePause },
  in_progress: { tone: 'warn', label: 'Waiting for the next call', Icon: CirclePause },
  pending: { tone: 'idle', label: 'Pending', Icon: CircleDashed },
};

/** Returns the label of a status. */
export function statusName(status: string): string {
  return LOOKS[status]?.label ?? status;
}

/** The outcome or status of a run, or the status of a block, delivery or test. The icon conveys it without colour. */
export function StatusBadge({ status }: { status: string }) {
  const { tone, Icon } = LOOKS[status] ?? { tone: 'idle', Icon: CircleDashed };
  return (
    <Badge tone={tone}>
      <Icon size={12} className={Icon === LoaderCircle ? style.spin : undefined} />
      {statusName(status)}
    </Badge>
  );
}

/** A short label with a colour. */
export function Badge({ tone = 'idle', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={classes(style.badge, style[tone])}>{children}</span>;
}
