#!/usr/bin/env python3
"""Steps of the paper's set-up in PyTorch, to compare with: prints "MODEL microseconds" lines (wall time of a step, the
median, two threads) and "MODEL_one_thread microseconds" lines (CPU time of a step, the mean, one thread).

A minimal re-implementation of what arXiv:2603.11487 describes, not the paper's own code, which is not at hand:
nn.Linear layers without bias, the full L x L attention with a mask, a residual around each layer of a stack, mean
squared error, Adam. The batch is drawn with tensor operations, and drawing, optimiser and the stop rule's largest error are in
the measured step, as they are in ours. data/reference, made by the paper's own code, is what we are checked against.

usage: paper_train.py [SECONDS-A-MODEL]
"""
import sys
import time

import torch
from torch import nn

L = N = 16
D = N - 3
BATCH = 128


class Attention(nn.Module):
    def __init__(self, heads, relu):
        super().__init__()
        self.heads, self.relu = heads, relu
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(N, heads * N, bias=False))
        self.W_O = nn.Linear(heads * N, N, bias=False)
        for weight in self.parameters():
            nn.init.normal_(weight, 0, 0.02)
        self.register_buffer("mask", torch.tril(torch.ones(L, L, dtype=torch.bool)))
        self.register_buffer("scale", torch.arange(L).clamp(min=1).view(L, 1).float())

    def forward(self, x):
        q, k, v = (w(x).view(-1, L, self.heads, N).transpose(1, 2) for w in (self.W_Q, self.W_K, self.W_V))
        scores = q @ k.transpose(-2, -1)
        if self.relu:
            a = torch.relu(scores).masked_fill(~self.mask, 0) / self.scale
        else:
            a = scores.masked_fill(~self.mask, float("-inf")).softmax(-1)
        return self.W_O((a @ v).transpose(1, 2).reshape(-1, L, self.heads * N))


class Model(nn.Module):
    def __init__(self, layers, heads, relu):
        super().__init__()
        self.residual = layers * heads > 1
        self.layers = nn.ModuleList(Attention(heads, relu) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x) if self.residual else layer(x)
        return x


def draw(residual):
    rows = torch.arange(BATCH)
    j = torch.randint(2, L, (BATCH,))
    x = torch.zeros(BATCH, L, N)
    x[:, 0, 0] = 1
    x[:, 1:, 2 : 2 + D] = torch.rand(BATCH, L - 1, D) * 2 - 1
    x[:, 1:, N - 1] = 1
    x[rows, j, N - 1] = 0
    x[rows, j, 1] = 1
    y = torch.zeros_like(x)
    sums = x[:, 1:].cumsum(1)
    y[rows, j] = sums[rows, j - 1] / j.view(-1, 1)
    return x, x + y if residual else y


def microseconds(layers, heads, relu, seconds):
    model = Model(layers, heads, relu)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3 if layers * heads == 1 else 1e-4, betas=(0.9, 0.95), eps=1e-8)

    def step():
        x, y = draw(model.residual)
        error = model(x) - y
        loss = (error * error).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        return error.abs().max().item()

    for _ in range(5):
        step()
    walls = []
    cpu = time.process_time()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(walls) < 5:
        start = time.perf_counter()
        step()
        walls.append(time.perf_counter() - start)
    cpu = time.process_time() - cpu
    return 1e6 * sorted(walls)[len(walls) // 2], 1e6 * cpu / len(walls)


def main():
    torch.manual_seed(1)
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3
    for size in (1, 2, 4):
        for relu in (False, True):
            name = f"{'relu' if relu else 'softmax'}_{size}h{size}d"
            torch.set_num_threads(2)
            print(name, f"{microseconds(size, size, relu, seconds)[0]:.1f}", flush=True)
            torch.set_num_threads(1)
            print(f"{name}_one_thread", f"{microseconds(size, size, relu, seconds)[1]:.1f}", flush=True)


if __name__ == "__main__":
    main()
