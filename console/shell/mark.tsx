/** The logo of Weir: water that flows over a sill. */
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" fill="#0b6e75" />
      <path
        d="M5 11h11.5c3 0 3.2 3 3.2 5s.3 5 3.3 5H27"
        fill="none"
        stroke="#fff"
        strokeWidth="3"
        strokeLinecap="round"
      />
      <path d="M5 17h7m-7 6h9" stroke="#9fd8d6" strokeWidth="3" strokeLinecap="round" />
      <path d="M20 5v6" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
    </svg>
  );
}
