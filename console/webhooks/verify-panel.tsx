import { useState } from 'react';
import { CodeBlock } from '../ui/code-block.tsx';
import { Panel } from '../ui/page.tsx';
import { Select } from '../ui/select.tsx';
import { VERIFY_PYTHON, VERIFY_TYPESCRIPT } from './verify-snippets.ts';
import style from './webhooks.module.css';

const LANGUAGES = [
  { id: 'typescript', label: 'TypeScript' },
  { id: 'python', label: 'Python' },
] as const;

/** The rules for a receiver, with code that verifies a signature. */
export function VerifyPanel() {
  const [language, setLanguage] = useState<(typeof LANGUAGES)[number]['id']>('typescript');
  return (
    <Panel
      title="What a receiver does"
      actions={
        <Select label="Language" hideLabel options={LANGUAGES} value={language} onChange={setLanguage} />
      }
    >
      <ul className={style.list}>
        <li>Verify the signature over the bytes as they arrived, before parsing them.</li>
        <li>Refuse what is older than five minutes.</li>
        <li>
          Answer 2xx within 20 seconds, and work afterwards. 408, 429 and 5xx are retried; another 3xx or 4xx
          is final.
        </li>
        <li>
          Remember <code>X-Weir-Delivery</code>: a delivery may arrive more than once.
        </li>
      </ul>
      <CodeBlock
        label={`the code in ${language === 'python' ? 'Python' : 'TypeScript'}`}
        text={language === 'python' ? VERIFY_PYTHON : VERIFY_TYPESCRIPT}
      />
    </Panel>
  );
}
